"""Imports only go down, each heavy library has one door, and a light command stays light."""

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "sweep").rglob("*.py"))
DEADLINE_S = 120
MAX_FUNCTION_LINES = 40
MAX_MODULE_LINES = 250

DOORS = {
    "sqlalchemy": {"store"},
    "alembic": {"store"},
    "optuna": {"tuner", "dashboard"},
    "optuna_dashboard": {"dashboard"},
    "waitress": {"dashboard"},
    "torch": {"training"},
    "torchvision": {"training"},
    "sklearn": {"training"},
    "pandas": {"views"},
    "plotly": {"views"},
    "kaleido": {"views"},
    "openpyxl": {"views"},
    "typer": {"cli"},
    "rich": {"cli"},
    "ruamel": {"spec"},
    "tensorboardX": {"trackers"},
}
"""Which packages of ours may import a library; the others reach it through them or not at all."""

OUT_OF_REACH = {
    "worker": {"sqlalchemy", "alembic", "optuna", "pandas", "plotly", "ruamel"},
    "coordinator": {
        "tensorboardX",
        "mlflow",
        "wandb",
        "torch",
        "torchvision",
        "sklearn",
        "pandas",
        "plotly",
    },
    "fleet": {"torch", "sqlalchemy", "optuna"},
    "training": {"sqlalchemy", "optuna", "ruamel"},
    "views": {"torch", "sqlalchemy", "optuna"},
    "dashboard": {"torch"},
}
"""Libraries that a program of ours must not load, however long the way to them is."""

HEAVY = {"torch", "torchvision", "sklearn", "pandas", "plotly", "optuna", "sqlalchemy"}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("sweep", include_external_packages=True, cache_dir=None)


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Another Python at the root of the project, whose output is kept."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S
    )


def roots_loaded_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(*(name.partition('.')[0] for name in sys.modules))"
    loaded = run_python("-c", code)
    assert loaded.returncode == 0, loaded.stderr
    return set(loaded.stdout.split())


def importers_of(imports: grimp.ImportGraph, library: str) -> set[str]:
    used = library in imports.modules
    return imports.find_modules_that_directly_import(library) if used else set()


def door_of(module: str) -> str:
    """The package of ours that a module lies in: store for sweep.store.reads."""
    return module.split(".")[1]


def functions_of(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_imports_only_go_down_and_siblings_never_meet():
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    linted = run_python("-c", command, "--no-cache")
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.parametrize("library", DOORS)
def test_a_heavy_library_is_imported_through_its_door_only(imports, library):
    assert find_spec(library), f"{library} is no library here"
    strangers = {
        name for name in importers_of(imports, library) if door_of(name) not in DOORS[library]
    }
    assert not strangers


@pytest.mark.parametrize("program", OUT_OF_REACH)
def test_a_program_cannot_reach_what_is_not_its_own(imports, program):
    for library in OUT_OF_REACH[program] & imports.modules:
        chain = imports.find_shortest_chain(f"sweep.{program}", library, as_packages=True)
        assert chain is None, " -> ".join(chain)


def test_the_command_line_starts_without_any_heavy_library():
    unwanted = roots_loaded_by("sweep.cli.main") & HEAVY
    assert not unwanted


def test_the_worker_starts_without_a_database_driver_and_without_optuna():
    drivers = {"sqlalchemy", "sqlite3", "psycopg", "optuna", "pandas", "plotly"}
    unwanted = roots_loaded_by("sweep.worker.__main__") & drivers
    assert not unwanted


def test_importing_a_package_imports_nothing_of_ours():
    for package in (ROOT / "sweep").rglob("__init__.py"):
        body = ast.parse(package.read_text(encoding="utf-8")).body
        modules = [node.module or "" for node in body if isinstance(node, ast.ImportFrom)]
        modules += [
            alias.name for node in body if isinstance(node, ast.Import) for alias in node.names
        ]
        # the standard library's names are for the signatures of the public functions
        assert {module.partition(".")[0] for module in modules} <= sys.stdlib_module_names, package


def test_importing_the_package_loads_nothing_heavy_and_nothing_of_ours():
    code = "import sweep, sys; print(*(name for name in sys.modules))"
    loaded = set(run_python("-c", code).stdout.split())
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    assert {name for name in loaded if name.startswith("sweep.")} == set()


def test_importing_sweep_in_a_notebook_loads_nothing_heavy():
    unwanted = roots_loaded_by("sweep") & (HEAVY | {"typer", "rich", "pydantic"})
    assert not unwanted


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_and_its_functions_are_short(path):
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)), "a module says in its docstring what it knows"
    assert len(source.splitlines()) <= MAX_MODULE_LINES
    for function in functions_of(path):
        lines = function.end_lineno - function.lineno + 1
        assert lines <= MAX_FUNCTION_LINES, f"{function.name} has {lines} lines"


def test_no_module_is_a_drawer_for_odds_and_ends():
    assert not [path for path in MODULES if path.stem in {"utils", "helpers", "common", "misc"}]
