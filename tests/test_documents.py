"""The README is true: its tables are the program's own, its commands and files exist and parse."""

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sweep.spec.find import shipped_studies
from sweep.spec.load import load_study_file
from sweep.spec.training import training_table
from sweep.views.column import columns_markdown
from sweep.views.columns import (
    BY,
    BY_MEMORY,
    TRIALS_AFTER_PARAMS,
    TRIALS_BEFORE_PARAMS,
)
from sweep.views.gallery import gallery_markdown

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CHINESE = (ROOT / "README.zh.md").read_text()
SWEEP = str(Path(sys.executable).with_name("sweep"))
GROUPS = ("trials", "studies", "storage")
TABLES = {
    "training keys": training_table(),
    "trial columns": columns_markdown((*TRIALS_BEFORE_PARAMS, *TRIALS_AFTER_PARAMS)),
    "by columns": columns_markdown((*BY, *BY_MEMORY)),
    "figures": gallery_markdown(),
}


def _blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def _commands() -> list[list[str]]:
    blocks = [*_blocks("sh"), *_blocks("sh", CHINESE)]
    lines = list(dict.fromkeys(line for block in blocks for line in block.splitlines()))
    words = [shlex.split(line, comments=True) for line in lines]
    return [each[1:] for each in words if each[:1] == ["sweep"]]


def _help(*command: str) -> str:
    shown = subprocess.run(
        [SWEEP, *command, "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    return shown.stdout


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_the_readme_is_the_programs_own(name: str) -> None:
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", README, re.DOTALL)
    assert found is not None
    assert found[1].strip() == TABLES[name].strip()


def _proofs() -> list[str]:
    found = re.search(r"<!-- guarantees -->\n(.*?)<!-- end -->", README, re.DOTALL)
    assert found is not None
    return re.findall(r"`(tests/[^`]+)`", found[1])


@pytest.mark.parametrize("proof", _proofs())
def test_a_guarantee_names_a_test_that_exists(proof: str) -> None:
    file, _, name = proof.partition("::")
    tree = ast.parse((ROOT / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_a_command_in_the_readme_exists_with_its_flags(command: list[str]) -> None:
    names = command[:2] if command[0] in GROUPS else command[:1]
    shown = _help(*names)
    for flag in (word.partition("=")[0] for word in command[1:] if word.startswith("-")):
        assert re.search(rf"{flag}\b", shown), f"sweep {' '.join(names)} has no {flag}"


@pytest.mark.parametrize("text", [README, CHINESE], ids=["english", "chinese"])
def test_ones_own_study_runs_as_it_is_written(text: str, tmp_path: Path) -> None:
    lines = [line for block in _blocks("sh", text) for line in block.splitlines()]
    (begin,) = (n for n, line in enumerate(lines) if line.startswith("sweep init mine.yaml"))
    for line in lines[begin : begin + 2]:
        words = shlex.split(line, comments=True)
        done = subprocess.run([SWEEP, *words[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "best: trial" in done.stdout


def test_every_command_of_the_program_is_in_the_readme() -> None:
    listed = _help().partition("Commands:")[2].split("\n")
    names = {line.split()[0] for line in listed if re.match(r"  \w", line)}
    assert len(names) >= 10
    missing = {name for name in names if f"sweep {name}" not in README}
    assert missing == set()


def test_the_studies_in_the_readme_are_those_that_are_shipped() -> None:
    table = README.partition("| study | what it is for |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {
        path.stem for path in shipped_studies().glob("*.yaml")
    }


@pytest.mark.parametrize("path", sorted(shipped_studies().glob("*.yaml")), ids=lambda p: p.stem)
def test_a_shipped_study_parses_under_its_own_name(path: Path) -> None:
    assert load_study_file(path).study == path.stem


def test_the_study_file_in_the_readme_parses(tmp_path: Path) -> None:
    (text,) = _blocks("yaml")
    (tmp_path / "readme.yaml").write_text(text)
    assert load_study_file(tmp_path / "readme.yaml").study == "lr_bs_opt"


def test_the_training_function_in_the_readme_is_a_generator() -> None:
    (text,) = [block for block in _blocks("python") if "def train" in block]
    (function,) = ast.parse(text).body
    assert any(isinstance(node, ast.Yield) for node in ast.walk(function))


def test_the_links_in_the_readme_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert targets
    for target in targets:
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_example_of_ones_own_function_runs_as_the_readme_says(tmp_path: Path) -> None:
    for command in (
        ["init", "mine.yaml", "--train", "mine.py"],
        ["check", "mine.yaml"],
        ["run", "--study", "mine.yaml", "--trials", "2", "--cpu", "1"],
        ["best", "--study", "mine", "--format", "json"],
    ):
        done = subprocess.run(
            [SWEEP, *command], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
    assert {"value", "lr", "weight_decay"} <= set(json.loads(done.stdout)[0])
