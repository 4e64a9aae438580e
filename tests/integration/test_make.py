"""`make` says in one line what a machine lacks, and keeps or remakes its venv for a reason."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEADLINE_S = 60
OF_AN_OUTER_MAKE = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PYTHON", "TORCH"}

STUB = """#!/bin/sh
# A Python of another kind: it answers what make asks of it, and installs nothing.
case "$*" in
  -V) echo "{version}" ;;
  *version_info*) exit {is_old} ;;
  *ensurepip*) exit {lacks_venv} ;;
  *"import torch"*|*"sys, torch"*) exit {lacks_torch} ;;
  "-m venv"*) for folder; do :; done
    mkdir -p "$folder/bin" && cp "$0" "$folder/bin/python" && echo made >> making ;;
  "-m pip"*) echo "$*" >> installing; exit {pip_fails} ;;
esac
"""


@pytest.fixture
def clone(tmp_path) -> Path:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def stub_python(clone: Path, **answers) -> str:
    """A Python that lacks what `answers` says; its exit codes are 1 for a lack."""
    able = {"version": "3.12.1", "is_old": 0, "lacks_venv": 0, "lacks_torch": 0, "pip_fails": 0}
    path = clone / "stub-python"
    path.write_text(STUB.format(**(able | answers)))
    path.chmod(0o755)
    return f"PYTHON={path}"


def make(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in os.environ if name not in OF_AN_OUTER_MAKE}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


def count(clone: Path, name: str) -> int:
    path = clone / name
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize(
    ("answers", "arguments", "message"),
    [
        ({"is_old": 1, "version": "Python 3.9.2"}, [], "Python 3.11 or newer, and .* 3.9.2"),
        ({"lacks_venv": 1}, [], "apt-get install python3-venv"),
        ({"lacks_torch": 1}, ["TORCH=system"], "has no torch and torchvision of its own"),
    ],
)
def test_what_is_lacking_is_said_with_its_remedy_and_nothing_is_made(
    clone, answers, arguments, message
):
    refused = make(clone, "demo", stub_python(clone, **answers), *arguments)
    assert refused.returncode != 0
    assert len(refused.stdout.splitlines()) == 1
    assert re.search(message, refused.stdout)
    assert not (clone / ".venv").exists()


def test_a_python_that_is_absent_is_named(clone):
    refused = make(clone, "demo", "PYTHON=python-of-tomorrow")
    assert "There is no python-of-tomorrow: apt-get install python3" in refused.stdout


def test_another_word_for_torch_is_refused(clone):
    assert "TORCH=cpu is neither pinned nor system" in make(clone, "demo", "TORCH=cpu").stderr


def test_a_second_make_installs_nothing(clone):
    python = stub_python(clone)
    assert make(clone, ".venv/.dev", python).returncode == 0
    installed = count(clone, "installing")
    assert make(clone, ".venv/.dev").returncode == 0
    assert make(clone, ".venv/.package").returncode == 0
    assert (count(clone, "making"), count(clone, "installing")) == (1, installed)


def test_a_changed_requirement_installs_again_into_the_same_venv(clone):
    make(clone, ".venv/.dev", stub_python(clone))
    installed = count(clone, "installing")
    stamp = (clone / ".venv" / ".dev").stat()
    os.utime(clone / "constraints.txt", (stamp.st_atime + 10, stamp.st_mtime + 10))
    make(clone, ".venv/.dev")
    assert (count(clone, "making"), count(clone, "installing")) == (1, 2 * installed)


def test_a_venv_whose_installation_was_cut_short_is_remade(clone):
    assert make(clone, ".venv/.dev", stub_python(clone, pip_fails=1)).returncode != 0
    assert make(clone, ".venv/.dev", stub_python(clone)).returncode == 0
    assert count(clone, "making") == 2


def test_a_venv_for_another_torch_is_remade_and_the_choice_is_remembered(clone):
    python = stub_python(clone)
    make(clone, ".venv/.dev", python)
    assert make(clone, ".venv/.dev", "TORCH=system").returncode == 0
    assert make(clone, ".venv/.dev").returncode == 0
    assert count(clone, "making") == 2


def test_an_installed_torch_is_kept_by_leaving_out_its_pins(clone):
    make(clone, ".venv/.dev", stub_python(clone), "TORCH=system")
    pins = (clone / ".venv" / "constraints.txt").read_text()
    assert "torch==" not in pins
    assert "sympy==" not in pins
    assert "pandas==" in pins
