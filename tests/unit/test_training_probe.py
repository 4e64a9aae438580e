"""The choice of precision on a CPU: what it asks, what it measures, and that it is kept."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.spec.training import settle_precision
from sweep.training.dataset import load_dataset
from sweep.training.preparation import choices
from sweep.training.probe import CPU, cpu_precision, fast_bf16_units, faster
from sweep.training.remembered import FILE, cache_folder, remembered

DEADLINE_S = 60
DIGITS = DataSpec(name="digits")
needs_units = pytest.mark.skipif(
    not fast_bf16_units(), reason="this CPU has neither AMX nor AVX512-BF16"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SWEEP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / FILE


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("flags\t\t: fpu sse2 avx512_bf16 amx_tile amx_bf16\n", "amx_bf16 avx512_bf16"),
        ("processor: 0\nflags\t: avx512f avx512_bf16\n\nflags\t: avx\n", "avx512_bf16"),
        ("flags\t: avx2 avx512f\n", ""),
        ("Features\t: fp asimd bf16\n", ""),
        ("", ""),
    ],
)
def test_the_processor_says_whether_it_has_units_for_bf16(
    tmp_path: Path, text: str, units: str
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(text)
    assert fast_bf16_units(path) == units


def test_a_system_that_tells_nothing_of_its_processor_has_none(tmp_path: Path) -> None:
    assert fast_bf16_units(tmp_path / "none") == ""


@pytest.mark.parametrize(
    ("fp32_s", "bf16_s", "chosen"),
    [(1.0, 0.5, "bf16"), (1.0, 0.8, "bf16"), (1.0, 0.81, "fp32"), (1.0, 2.0, "fp32")],
)
def test_bf16_must_be_faster_by_a_quarter(fp32_s: float, bf16_s: float, chosen: str) -> None:
    assert faster(fp32_s, bf16_s) == chosen


def test_what_was_measured_is_kept_for_each_subject(cache: Path) -> None:
    answers = iter(["fp32", "bf16", "never asked for"])

    def measure() -> str:
        return next(answers)

    for _ in range(2):
        assert remembered({"a": 1, "b": [2]}, measure) == "fp32"
        assert remembered({"b": [3], "a": 1}, measure) == "bf16"
    assert sorted(json.loads(cache.read_text()).values()) == ["bf16", "fp32"]
    assert [path.name for path in cache.parent.iterdir() if path.name[0] != "."] == [FILE]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"a": 1}', "\udcff"])
def test_a_damaged_file_is_measured_anew(cache: Path, content: str) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert remembered({"a": 1}, lambda: "fp32") == "fp32"
    assert remembered({"a": 1}, lambda: "never asked for") == "fp32"


def test_without_a_folder_it_is_measured_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SWEEP_CACHE", str(tmp_path / "file" / "cache"))
    assert remembered({"a": 1}, lambda: "fp32") == "fp32"
    assert remembered({"a": 1}, lambda: "bf16") == "bf16"


def test_workers_that_start_at_once_measure_once(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from sweep.training.remembered import remembered\n"
        "def measure():\n"
        "    print('measures', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    return 'bf16'\n"
        "print('asks', flush=True)\n"
        "print(remembered({'a': 1}, measure))\n"
    )
    command = [sys.executable, "-c", code]
    # unbuffered, so that what follows the first line is not read with it
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    workers = [subprocess.Popen(command, **pipes) for _ in range(4)]
    # whoever measures is kept at it until all the others have asked too
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"asks\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"\n")
    said = [worker.communicate(timeout=DEADLINE_S)[0].split() for worker in workers]
    assert sorted(said) == [[b"bf16"]] * 3 + [[b"measures", b"bf16"]]


def test_the_cache_is_where_users_keep_what_can_be_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SWEEP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder() == Path("/cache/sweep")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "sweep"


def test_what_could_not_be_kept_leaves_nothing_behind(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert remembered({"what": "it"}, lambda: "measured") == "measured"
    assert [path.name for path in cache.parent.iterdir()] == [f".{FILE}.lock"]


@needs_units
def test_a_choice_is_made_once_and_then_kept(cache: Path) -> None:
    data = load_dataset(DIGITS, CPU)
    chosen = cpu_precision(ModelSpec(width=4), data)
    assert chosen in ("fp32", "bf16")
    (key,) = known = json.loads(cache.read_text())
    assert known == {key: chosen}
    for planted in ("bf16", "fp32"):
        cache.write_text(json.dumps({key: planted}))
        assert cpu_precision(ModelSpec(width=4), data) == planted
    cpu_precision(ModelSpec(width=8), data)
    assert len(json.loads(cache.read_text())) == 2


@needs_units
def test_a_network_that_cannot_be_built_or_run_is_left_at_fp32(tmp_path: Path) -> None:
    data = load_dataset(DIGITS, CPU)
    for body in ("raise ValueError('no')", "return torch.nn.Linear(3, 3)", "return 3"):
        path = tmp_path / f"net{len(body)}.py"
        path.write_text(f"import torch\n\n\ndef build():\n    {body}\n")
        assert cpu_precision(ModelSpec(factory=f"{path}:build"), data) == "fp32"


def test_auto_is_what_the_study_was_begun_with() -> None:
    auto = {"lr": 0.1, "precision": "auto"}
    versions = {"cpu_precision": "bf16", "gpu_precision": "fp16"}
    settled = {"cpu": "bf16", "GPU-aaaa": "fp16", "GPU-aaaa,GPU-bbbb": "fp16"}
    for device, precision in settled.items():
        assert settle_precision(auto, versions, device) == {"lr": 0.1, "precision": precision}
    for device, precision in {"cpu": "fp32", "GPU-aaaa": "auto"}.items():
        elsewhere = {"torch": "2"}
        assert settle_precision(auto, elsewhere, device) == {"lr": 0.1, "precision": precision}
    for given in ({"precision": "fp32"}, {"lr": 0.1}):
        assert settle_precision(given, versions, "GPU-aaaa") == given


@pytest.mark.parametrize(("has_bf16", "expected"), [(True, "bf16"), (False, "fp16")])
def test_what_auto_means_on_the_first_gpu_is_kept_for_the_study(
    has_bf16: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: has_bf16)
    recipe = RecipeSpec(data=DIGITS, model=ModelSpec(width=4))
    assert choices(recipe, "cuda:0") == {"gpu_precision": expected}
    assert choices(RecipeSpec(train="mine:train"), "cuda:0") == {}
