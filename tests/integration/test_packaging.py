"""What is shipped is whole: the wheel, the exact versions, and the installation itself."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
DEADLINE_S = 300
STUDIES = ("quickstart", "lr_bs_opt", "learning_rate", "batch_size", "optimizer", "baseline")


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def constraint_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def pins() -> dict[str, str]:
    return dict(line.split("==") for line in constraint_lines())


def torch_pins() -> dict[str, str]:
    """What `make TORCH=system` leaves out."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    block = re.search(r"^# begin torch.*\n((?:.+\n)+)# end torch$", text, re.MULTILINE)
    return dict(line.split("==") for line in block[1].splitlines())


def requirements() -> list[Requirement]:
    extras = project()["optional-dependencies"].values()
    listed = [*project()["dependencies"], *(line for extra in extras for line in extra)]
    parsed = [Requirement(line) for line in listed]
    return [each for each in parsed if each.name != project()["name"]]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> zipfile.Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    built = subprocess.run(
        [*build, str(ROOT)], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def shipped(wheel) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize("study", STUDIES)
def test_the_wheel_holds_the_study_files(shipped, study):
    assert f"sweep/studies/{study}.yaml" in shipped


def test_the_wheel_holds_every_module_and_every_migration(shipped):
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "sweep").rglob("*.py")}
    assert modules <= shipped
    assert any(re.fullmatch(r"sweep/store/migrations/versions/\w+\.py", name) for name in shipped)


def test_the_wheel_holds_what_the_pages_of_the_dashboard_are_made_with(shipped):
    folders = (ROOT / "sweep" / "dashboard", ROOT / "sweep" / "views")
    files = {path for folder in folders for path in folder.iterdir() if path.suffix != ".py"}
    names = {str(path.relative_to(ROOT)) for path in files if path.is_file()}
    assert {f"sweep/dashboard/{name}" for name in ("pages.css", "pages.js", "figures.js")} <= names
    assert names <= shipped


def test_the_wheel_says_that_it_is_typed_and_under_which_license(shipped):
    assert {"sweep/py.typed", "sweep/__init__.pyi"} <= shipped
    assert any(name.endswith("/licenses/LICENSE") for name in shipped)


def test_the_wheel_holds_nothing_else(shipped):
    strays = {name for name in shipped if not name.startswith(("sweep/", "sweep_trials-"))}
    assert not strays
    assert not {name for name in shipped if "__pycache__" in name}


def test_every_constraint_is_one_exact_version_and_nothing_more():
    for line in constraint_lines():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9A-Za-z.]*", line), line


def test_every_requirement_is_pinned_within_its_bounds():
    for requirement in requirements():
        pin = pins()[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pin), f"{requirement} but constraints.txt has {pin}"


def test_the_libraries_of_one_cuda_build_are_not_pinned():
    foreign = re.compile(r"(nvidia-(?!ml-py$)|cuda-|triton$)")
    assert not [name for name in pins() if foreign.match(name)]


def test_what_an_installed_torch_brings_can_be_left_out():
    assert {"torch", "torchvision", "sympy"} <= set(torch_pins())
    assert not {"numpy", "pandas", "optuna"} & set(torch_pins())


def test_the_tests_run_with_the_versions_that_are_pinned():
    installed = {}
    for name in set(pins()) - set(torch_pins()):
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue  # needed on another Python only
    assert installed == {name: pins()[name] for name in installed}
