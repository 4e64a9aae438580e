"""A trained trial leaves as one file, and comes back as the model whose value is stored."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from torch import nn

import sweep
from sweep.errors import DataError, TrainFunctionError, UsageError
from sweep.training.digits import read_digits
from sweep.training.seal import seal_of
from tests.console_script import answered
from tests.console_script import sweep as run_sweep

STUDY = """\
study: small
data: {name: digits}
model: {name: resnet18, width: 4}
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.05, 0.2]}}
training: {epochs: 2, batch_size: 64, precision: PRECISION}
search: {sampler: grid}
"""

NETWORK = """\
from torch import nn

def build(num_classes, in_channels):
    return nn.Sequential(
        nn.Conv2d(in_channels, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Flatten(), nn.Linear(8 * 64, num_classes),
    )
"""

OWN = """\
def train(params, device, state=None):
    for epoch in range(2):
        yield {"test_accuracy": 0.5 + epoch / 10}, {"seen": epoch + 1, "lr": params["lr"]}
"""


def ran(folder: Path, text: str, *arguments: str) -> Path:
    (folder / "small.yaml").write_text(text)
    done = run_sweep(folder, "run", "--study", "small.yaml", "--cpu", "1", *arguments)
    assert done.returncode == 0, done.stderr
    return folder


def exported(folder: Path) -> dict[str, float]:
    """The best trial of the study, having written its model.pt."""
    shown = answered(folder, "best", "--study", "small", "--export", "model.pt", "--format=json")
    best: dict[str, float] = json.loads(shown)[0]
    return best


def accuracy_of(model: nn.Module) -> float:
    """The accuracy on the digits' own test images, as anybody would measure it."""
    test = read_digits().test
    pixels = torch.from_numpy(test.images.transpose(0, 3, 1, 2).copy())
    with torch.inference_mode():
        found = model(pixels).argmax(1)
    return (found == torch.from_numpy(test.labels)).double().mean().item()


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_exported_model_evaluates_to_the_stored_value(tmp_path: Path, precision: str) -> None:
    best = exported(ran(tmp_path, STUDY.replace("PRECISION", precision)))
    model = sweep.load_model(tmp_path / "model.pt")
    assert accuracy_of(model) == best["value"] == best["test_accuracy"]
    assert not model.training
    assert (model.study, model.trial, model.precision) == ("small", best["trial"], precision)
    assert (model.params["lr"], model.image_size) == (best["lr"], 8)
    assert model.classes == [str(digit) for digit in range(10)]
    assert model.metrics["test_accuracy"] == best["value"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = ran(tmp_path_factory.mktemp("trained"), STUDY.replace("PRECISION", "fp32"))
    exported(folder)
    return folder


def test_the_file_needs_no_code_to_be_read_and_says_what_it_is(trained: Path) -> None:
    content = torch.load(trained / "model.pt", weights_only=True)
    assert content["format"] == "sweep model 1"
    assert content["model"]["name"] == "resnet18"
    assert content["params"]["epochs"] == 2
    assert {"torch", "sweep"} <= set(content["versions"])
    (mean,), (std,) = content["preprocessing"]["mean"], content["preprocessing"]["std"]
    images = read_digits().train.images / 255
    assert (mean, std) == (pytest.approx(images.mean()), pytest.approx(images.std()))


def test_the_weights_are_those_with_the_evaluation_statistics(trained: Path) -> None:
    content = torch.load(trained / "model.pt", weights_only=True)
    path = next(trained.glob(f"runs/small/trials/{content['trial']:05d}/a1-e1.pt"))
    state = torch.load(path, weights_only=True)["state"]
    name = next(name for name in state["statistics"] if name.endswith("running_mean"))
    assert torch.equal(content["weights"][name], state["statistics"][name])
    assert not torch.equal(content["weights"][name], state["model"][name])


def test_importing_sweep_and_a_plain_best_load_no_torch(trained: Path) -> None:
    code = "import sweep, sys; print('load_model' in dir(sweep), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True False\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-100], "is no model of sweep"),
        (lambda data: b"hello", "is no model of sweep"),
        (lambda data: b"", "is no model of sweep"),
    ],
    ids=["cut", "text", "empty"],
)
def test_what_is_no_such_file_is_refused(trained, tmp_path, change, message) -> None:
    (tmp_path / "bad.pt").write_bytes(change((trained / "model.pt").read_bytes()))
    with pytest.raises(DataError, match=message):
        sweep.load_model(tmp_path / "bad.pt")


def test_a_single_flipped_bit_is_noticed_wherever_in_the_weights_it_is(
    trained: Path, tmp_path: Path
) -> None:
    data = (trained / "model.pt").read_bytes()
    weights = torch.load(trained / "model.pt", weights_only=True)["weights"]
    random, num_flipped = Random(0), 0
    for name in random.sample(
        [each for each in sorted(weights) if weights[each].numel() > 15], 12
    ):
        held = bytes(weights[name].untyped_storage().tolist())  # as it lies in the file
        if data.count(held) != 1:
            continue  # all zeros, or all ones
        flipped = bytearray(data)
        flipped[data.index(held) + random.randrange(len(held))] ^= 1 << random.randrange(8)
        (tmp_path / "flipped.pt").write_bytes(flipped)
        num_flipped += 1
        with pytest.raises(DataError, match="is damaged: its SHA-256 differs; write it again"):
            sweep.load_model(tmp_path / "flipped.pt")
    assert num_flipped >= 6


def test_a_file_from_before_the_seal_is_read_as_it_is(trained: Path, tmp_path: Path) -> None:
    content = torch.load(trained / "model.pt", weights_only=True)
    del content["sha256"]
    torch.save(content, tmp_path / "old.pt")
    assert sweep.load_model(tmp_path / "old.pt").trial == content["trial"]


ABSENT = object()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, ABSENT) for key in ("study", "trial", "params", "metrics", "model", "classes")),
        *((key, ABSENT) for key in ("precision", "preprocessing", "weights")),
        *((key, 3) for key in ("study", "params", "metrics", "model", "classes", "weights")),
        ("trial", "one"),
        ("precision", "fp4"),
        ("classes", []),
        ("metrics", {"test_accuracy": "high"}),
        ("model", {"name": "resnet9"}),
        ("model", {"name": "resnet18", "width": -4}),
        ("weights", {"conv1.weight": "none"}),
        ("preprocessing", {}),
        ("preprocessing.channels", 0),
        ("preprocessing.pixel_mean", [0.5]),
        ("preprocessing.pixel_mean", torch.zeros(7)),
    ],
)
@pytest.mark.parametrize("is_sealed", [True, False])
def test_a_crafted_file_is_refused_in_a_line(
    trained: Path, tmp_path: Path, key: str, value: object, is_sealed: bool
) -> None:
    content = torch.load(trained / "model.pt", weights_only=True)
    del content["sha256"]
    *above, last = key.split(".")
    held = content[above[0]] if above else content
    if value is ABSENT:
        del held[last]
    else:
        held[last] = value
    torch.save(
        {**content, "sha256": seal_of(content)} if is_sealed else content, tmp_path / "c.pt"
    )
    with pytest.raises(DataError, match=r"c\.pt (is damaged|names|holds)") as caught:
        sweep.load_model(tmp_path / "c.pt")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", [None, 3, b"model.pt"])
def test_what_names_no_file_is_refused(path: Any) -> None:
    with pytest.raises(UsageError, match="it takes a file that sweep best --export wrote"):
        sweep.load_model(path)


def test_a_file_that_is_not_there_and_a_foreign_one_are_refused(tmp_path) -> None:
    with pytest.raises(DataError, match=r"nix\.pt cannot be read: No such file"):
        sweep.load_model(tmp_path / "nix.pt")
    torch.save({"weights": {}}, tmp_path / "foreign.pt")
    with pytest.raises(DataError, match="is no model of sweep"):
        sweep.load_model(tmp_path / "foreign.pt")


def test_a_network_of_ones_own_is_built_by_its_factory(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NETWORK)
    text = STUDY.replace("PRECISION", "fp32").replace(
        "{name: resnet18, width: 4}", "{factory: ./net.py:build}"
    )
    best = exported(ran(tmp_path, text))
    with pytest.raises(TrainFunctionError, match=r"net\.py:build builds; give that function"):
        sweep.load_model(tmp_path / "model.pt")
    names: dict[str, object] = {}
    exec(compile(NETWORK, "net.py", "exec"), names)
    model = sweep.load_model(tmp_path / "model.pt", factory=names["build"])  # type: ignore[arg-type]
    assert accuracy_of(model) == best["value"]
    with pytest.raises(DataError, match="holds the weights of another network"):
        sweep.load_model(tmp_path / "model.pt", factory=lambda n: nn.Linear(3, n))


def test_of_a_training_function_of_ones_own_its_state_is_exported(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    text = (
        "study: small\ntrain: ./own.py:train\nspace: {lr: {choices: [0.1, 0.2]}}\n"
        "objective: {metric: test_accuracy, direction: maximize}\ntraining: {epochs: 2}\n"
    )
    best = exported(ran(tmp_path, text))
    content = torch.load(tmp_path / "model.pt", weights_only=True)
    assert content["state"] == {"seen": 2, "lr": best["lr"]}
    assert content["params"] == {"epochs": 2, "lr": best["lr"]}
    with pytest.raises(DataError, match="state of a training function of your own"):
        sweep.load_model(tmp_path / "model.pt")


@pytest.mark.parametrize(
    ("code", "kept", "message"),
    [
        (
            "{}",
            "",
            "state at its last epoch, or it was cleaned; yield (metrics, state) and train it",
        ),
        (
            "{}, {}",
            "checkpoints: {keep: none}\n",
            "(checkpoints.keep: none); keep them and train it",
        ),
    ],
)
def test_what_was_never_kept_is_not_exported_and_the_way_to_keep_it_is_said(
    tmp_path: Path, code: str, kept: str, message: str
) -> None:
    metrics = code.replace("{}", "{'score': params['x']}", 1)
    (tmp_path / "mine.py").write_text(
        f"def train(params, device, state=None):\n    yield {metrics}\n"
    )
    text = (
        "study: small\ntrain: ./mine.py:train\nbudget: {trials: 1}\n"
        "space: {x: {choices: [0.5]}}\nobjective: {metric: score, direction: maximize}\n"
    )
    ran(tmp_path, text + kept)
    done = run_sweep(tmp_path, "best", "--study", "small", "--export", "model.pt")
    assert done.returncode == 4
    assert f"{message} again\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--top", "2"], 2, "--export writes one model; leave out --top"),
        ([], 4, "trial {trial} cannot be exported: its last checkpoint was cleaned; train it"),
    ],
)
def test_what_cannot_be_exported_is_said_in_a_line(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    ran(tmp_path, STUDY.replace("PRECISION", "fp32"))
    cleaned = run_sweep(tmp_path, "clean", "--study", "small", "--keep", "none")
    assert cleaned.stderr.startswith("removed 4 checkpoints, ") or "checkpoint" in cleaned.stderr
    best = json.loads(answered(tmp_path, "best", "--study", "small", "--format", "json"))[0]
    done = run_sweep(tmp_path, "best", "--study", "small", "--export", "model.pt", *arguments)
    assert done.returncode == code
    assert message.format(**best) in done.stderr
    assert not (tmp_path / "model.pt").exists()
