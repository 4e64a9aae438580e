"""Wrong commands: each ends with one line that says what to do, its exit code, and no file."""

import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.console_script import SWEEP, answered, environment, sweep
from tests.filled_store import fill_store
from tests.snapshots import lr_batch_study

STUDY = """\
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.1, 0.2]}}
training: {epochs: 1}
"""

QUICK = ("run", "--study", "quickstart")
NOTHING_STORED = (
    "no studies in {folder}/runs/sweep.db: nothing was stored there; start one with `sweep run`, "
    "or name another database with --storage"
)
TIME = "a time with a unit, such as 90s, 30m, 2h or 1h30m"

WRONG = [
    # wrong usage: 2
    (["statsu"], 2, "no such command 'statsu'. Did you mean 'status'?; see: sweep --help"),
    (["frobnicate"], 2, "no such command 'frobnicate'; see: sweep --help"),
    (["--versoin"], 2, "no such option: --versoin. Did you mean --version?; see: sweep --help"),
    (["studies"], 2, "missing command; see: sweep studies --help"),
    (["run"], 2, "missing option '--study'; write --study NAME or --study FILE.yaml"),
    (["run", "net.yaml"], 2, "missing option '--study'; write --study NAME or --study FILE.yaml"),
    (["check"], 2, "missing argument 'NAME|FILE'; see: sweep check --help"),
    (
        [*QUICK, "--gpu", "0"],
        2,
        "no such option: --gpu. Did you mean --cpu or --gpus?; see: sweep run --help",
    ),
    ([*QUICK, "--cpu"], 2, "option '--cpu' requires an argument; see: sweep --help"),
    ([*QUICK, "--cpu", "0"], 2, "--cpu is 0; it takes a whole number of at least 1"),
    (
        [*QUICK, "--cpu", "two"],
        2,
        "--cpu is the text 'two'; it takes a whole number of at least 1",
    ),
    (
        [*QUICK, "--cpu", "2", "--gpus", "all"],
        2,
        "--gpus and --cpu are both given; give one of them",
    ),
    (
        [*QUICK, "--gpus", "a"],
        2,
        "--gpus 'a': 'a' is no device; write numbers as in --gpus 0,1, UUIDs as in "
        "--gpus GPU-..., --gpus free:2, or --gpus all",
    ),
    (
        [*QUICK, "--gpus", ""],
        2,
        "--gpus '': an empty name is no device; write numbers as in --gpus 0,1, UUIDs as in "
        "--gpus GPU-..., --gpus free:2, or --gpus all",
    ),
    ([*QUICK, "--gpus", "0,0"], 2, "--gpus 0,0: a device is named twice; name each device once"),
    (
        [*QUICK, "--trials", "0"],
        2,
        "--trials 0: budget.trials is 0; it takes a whole number from 1 to 1000000",
    ),
    (
        [*QUICK, "--trials", "5", "--add-trials", "5"],
        2,
        "--trials and --add-trials are both given; give the total or the rest",
    ),
    ([*QUICK, "--add-trials", "0"], 2, "--add-trials is 0; it takes a whole number of at least 1"),
    (
        [*QUICK, "--timeout", "2x"],
        2,
        f"--timeout 2x: budget.timeout is the text '2x'; it takes {TIME}",
    ),
    (
        [*QUICK, "--timeout", "30"],
        2,
        f"--timeout 30: budget.timeout is 30; it takes {TIME}: add the unit",
    ),
    (
        [*QUICK, "--max-cost", "5"],
        2,
        "--max-cost 5: budget.max_cost needs a price: add price_per_hour or price_per_gpu_hour",
    ),
    ([*QUICK, "--grace", "soon"], 2, f"--grace is the text 'soon'; it takes {TIME}"),
    (
        [*QUICK, "--memory-limit", "2"],
        2,
        "--memory-limit is the text '2'; it takes a size with a unit, such as 512MiB or 2GiB",
    ),
    (
        [*QUICK, "--cpu", "1", "--memory-limit", "2GiB"],
        2,
        "--memory-limit is for GPUs, and this runs on the CPU; leave it out, or choose --gpus",
    ),
    (
        [*QUICK, "--seed", "x"],
        2,
        "--seed x: search.seed is the text 'x'; it takes a whole number from 0 to 4294967295",
    ),
    (
        [*QUICK, "--name", "a/b"],
        2,
        "--name a/b: study is the text 'a/b'; it takes 1 to 200 printable characters without "
        "/ and \\, no blanks at the ends, and not . or .. alone",
    ),
    (
        [*QUICK, "--set", "epochs"],
        2,
        "--set 'epochs' is no key=value; write it as in --set training.epochs=3",
    ),
    (
        ["best", "--study", "s", "--top", "0"],
        2,
        "--top is 0; it takes a whole number of at least 1",
    ),
    (
        ["best", "--study", "s", "--top", "99999999999999999999"],
        2,
        "--top is 99999999999999999999; it takes a whole number from 1 to 9007199254740992",
    ),
    *(
        ([*command, flag, ""], 2, f"{flag} is empty; it takes a name such as {example}")
        for command, flag, example in (
            (["export", "--study", "s"], "-o", "trials.csv"),
            (["report", "--study", "s"], "-o", "report.html"),
            (["report", "--study", "s"], "--image", "plot.png"),
            (["best", "--study", "s"], "--export", "best.pt"),
            (["storage", "backup"], "-o", "sweep-backup.db"),
            (["init"], "--train", "mine.py"),
            (QUICK, "--run-dir", "runs"),
        )
    ),
    (["init", ""], 2, "FILE is empty; it takes a name such as my_study.yaml"),
    (
        ["best", "--study", "s", "--rank", "speed"],
        2,
        "--rank is the text 'speed'; it takes accuracy, time, memory or cost",
    ),
    (
        ["export", "--study", "s", "--format", "tabel"],
        2,
        "--format is the text 'tabel'; it takes csv, table, json, md, tex, xlsx, tensorboard, "
        "mlflow or wandb: did you mean table?",
    ),
    (
        ["export", "--study", "s", "--by", "lr", "--table", "trials"],
        2,
        "--by and --table are both given; give one of them",
    ),
    (
        ["export", "--study", "s", "--bom", "--format", "json"],
        2,
        "--bom is for csv; leave it out with --format json",
    ),
    (
        ["report", "--study", "s", "-o", "report.pdf"],
        2,
        "-o report.pdf ends in none of .html, .htm, .md; write one such as report.html",
    ),
    (["status", "--watch", "--json"], 2, "--watch and --json are both given; give one of them"),
    (
        ["dashboard", "--port", "http"],
        2,
        "--port is the text 'http'; it takes a whole number from 0 to 65535",
    ),
    (
        ["init", "study.txt"],
        2,
        "study.txt is no name of a study file; write one such as my_study.yaml",
    ),
    (
        ["init", "--train", "mine"],
        2,
        "--train mine is no Python file; write one such as --train mine.py",
    ),
    (
        ["trials", "exclude", "--study", "s", "--trial", "-1"],
        2,
        "--trial is -1; it takes a whole number of at least 0",
    ),
    (
        ["trials", "enqueue", "--study", "s"],
        2,
        "missing option '--params'; see: sweep trials enqueue --help",
    ),
    (
        ["clean", "--study", "s", "--keep", "first"],
        2,
        "--keep is the text 'first'; it takes last, best or none",
    ),
    (["doctor", "--fix"], 2, "--fix is for one study; name it with --study"),
    (
        ["best", "--study", "s", "--top", "2", "--export", "model.pt"],
        2,
        "--export writes one model; leave out --top",
    ),
    # a database that is none of ours: 2 or 4
    (
        [*QUICK, "--storage", "sweep.db"],
        2,
        "sweep.db is a path; write sqlite:///sweep.db",
    ),
    (
        ["status", "--storage", "mysql://me:secret@host/x"],
        2,
        "storage mysql://me:***@host/x: mysql:// is not known; write sqlite:///PATH or "
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
    ),
    # not found: 3
    (
        ["run", "--study", "quickstrat"],
        3,
        "no study file 'quickstrat' in ./studies or among the shipped ones; did you mean "
        "quickstart?",
    ),
    (
        ["check", "nix/study.yaml"],
        3,
        "no study file nix/study.yaml; there is no folder {folder}/nix",
    ),
    (["status"], 3, NOTHING_STORED),
    (["status", "--study", "quickstart"], 3, NOTHING_STORED),
    (["stop", "--study", "quickstart"], 3, NOTHING_STORED),
    (["best", "--study", "quickstart"], 3, NOTHING_STORED),
    (["export", "--study", "quickstart"], 3, NOTHING_STORED),
    (["report", "--study", "quickstart", "-o", "report.html"], 3, NOTHING_STORED),
    (["logs", "--study", "quickstart", "--trial", "0"], 3, NOTHING_STORED),
    (["studies", "list"], 3, NOTHING_STORED),
    (["studies", "delete", "--study", "quickstart"], 3, NOTHING_STORED),
    (["trials", "retry", "--study", "quickstart", "--trial", "0"], 3, NOTHING_STORED),
    (["clean", "--study", "quickstart"], 3, NOTHING_STORED),
    (["doctor", "--study", "quickstart"], 3, NOTHING_STORED),
    (["storage", "upgrade"], 3, NOTHING_STORED),
    (["storage", "backup"], 3, NOTHING_STORED),
    (
        ["storage", "backup", "-o", "nix/copy.db"],
        3,
        "there is no folder nix; make it, or name another one",
    ),
    (
        ["best", "--study", "s", "--export", "nix/model.pt"],
        3,
        "there is no folder nix; make it, or name another one",
    ),
    (
        ["export", "--study", "s", "-o", "nix/trials.csv"],
        3,
        "there is no folder nix; make it, or name another one",
    ),
    (["init", "nix/study.yaml"], 3, "there is no folder nix; make it, or name another one"),
    # not usable: 4
    (
        [*QUICK, "--gpus", "0"],
        4,
        "no GPU 0 here; this machine shows no GPU; leave --gpus out, or write --cpu 2, to run on "
        "the CPU",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "code", "message"), WRONG, ids=lambda value: str(value)[:50]
)
def test_a_wrong_command_says_one_line_and_writes_nothing(tmp_path, arguments, code, message):
    done = sweep(tmp_path, *arguments)
    assert done.stderr == f"error: {message.format(folder=tmp_path)}\n"
    assert done.stdout == ""
    assert done.returncode == code
    assert list(tmp_path.iterdir()) == []


def test_every_problem_of_a_study_file_is_a_line_with_its_place(tmp_path):
    (tmp_path / "bad.yaml").write_text("trian: ./mine.py:train\n" + STUDY.replace("lr", "trial"))
    done = sweep(tmp_path, "run", "--study", "bad.yaml")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: bad.yaml:1: ")
    assert lines[1].startswith("error: bad.yaml:2: ")
    assert lines[2].startswith("error: bad.yaml:4: ")
    assert len(lines) == 3
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]


OWN_CODE = {
    "no_file": (None, "there is no file"),
    "no_function": ("x = 1\n", "mine.py has no function train"),
    "no_import": ("import nonexistent_module\n", "No module named 'nonexistent_module'"),
    "no_generator": ("def train(params, device):\n    return {}\n", "is not a generator"),
    "exits": ("print('hello')\nraise SystemExit(3)\n", ""),
}


@pytest.mark.parametrize("case", OWN_CODE)
@pytest.mark.parametrize(
    "command", [["check", "own.yaml"], ["run", "--study", "own.yaml", "--cpu=1"]]
)
def test_own_code_that_cannot_be_used_is_refused_before_anything_is_written(
    tmp_path, command, case
):
    code, message = OWN_CODE[case]
    (tmp_path / "own.yaml").write_text(STUDY)
    if code is not None:
        (tmp_path / "mine.py").write_text(code)
    before = sorted(tmp_path.iterdir())
    done = sweep(tmp_path, *command, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path):
    (tmp_path / "notes.db").write_text("not a database\n" * 100)
    done = sweep(tmp_path, "run", "--study", "quickstart", "--storage", "sqlite:///notes.db")
    assert done.returncode == 4
    assert "notes.db" in done.stderr
    assert (tmp_path / "notes.db").read_text() == "not a database\n" * 100
    assert [path.name for path in tmp_path.iterdir()] == ["notes.db"]


def test_a_run_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    done = sweep(tmp_path, "run", "--study", "quickstart", "--run-dir", "taken/runs")
    assert done.stderr == (
        f"error: --run-dir taken/runs: {tmp_path}/taken is no folder; name another one\n"
    )
    assert done.returncode == 4
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.fixture
def stored(tmp_path):
    """A folder whose database holds the study lr_bs."""
    fill_store(f"sqlite:///{tmp_path}/runs/sweep.db", lr_batch_study())
    return tmp_path


WRONG_OF_STORED = [
    (["best", "--study", "lr_bss"], 3, "no study 'lr_bss'; did you mean 'lr_bs'?"),
    (
        ["export", "--study", "lr_bs", "--by", "width"],
        2,
        "no param 'width' is searched here; compare by one of: optimizer, batch_size, lr",
    ),
    (
        ["export", "--study", "lr_bs", "--columns", "trial,test_acuracy"],
        2,
        "there is no column 'test_acuracy' in this table; did you mean test_accuracy?",
    ),
    (["logs", "--study", "lr_bs", "--trial", "9"], 3, "study lr_bs has no trial 9; it has 0 to 5"),
    (
        ["logs", "--study", "lr_bs", "--trial", "0", "--attempt", "2"],
        3,
        "trial 0 has no attempt 2; it has 1 to 1",
    ),
    (
        ["logs", "--study", "lr_bs", "--trial", "0"],
        3,
        "the log logs/0-1.log is not there; it was on box",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "code", "message"), WRONG_OF_STORED, ids=lambda value: str(value)[:50]
)
def test_a_wrong_question_about_a_stored_study_is_one_line(stored, arguments, code, message):
    done = sweep(stored, *arguments)
    assert (done.stderr, done.stdout) == (f"error: {message}\n", "")
    assert done.returncode == code


WRONG_CHANGES = [
    (
        ["trials", "exclude", "--study", "lr_bs", "--trial", "9"],
        3,
        "study lr_bs has no trial 9; it has 0 to 5",
    ),
    (
        ["trials", "retry", "--study", "lr_bs", "--trial", "0"],
        2,
        "trial 0 is complete; only a failed trial can be tried again",
    ),
    (
        ["trials", "enqueue", "--study", "lr_bs", "--params", "lr"],
        2,
        "--params 'lr' is no name=value; write them as in --params lr=0.1,batch_size=128",
    ),
    (
        ["trials", "enqueue", "--study", "lr_bs", "--params", "lr=0.1,lr=0.2"],
        2,
        "--params gives lr twice; give each once",
    ),
    (
        ["trials", "enqueue", "--study", "lr_bs", "--params", "lr=0.1,batchsize=32"],
        2,
        "unknown param batchsize; did you mean batch_size?",
    ),
    (
        ["trials", "enqueue", "--study", "lr_bs", "--params", "lr=-1"],
        2,
        "--params: lr is -1; it takes a number above 0",
    ),
    (
        ["studies", "delete", "--study", "lr_bs"],
        2,
        "delete study lr_bs with 6 trials? Nobody can answer here; give --yes if you are sure",
    ),
    (
        ["studies", "copy", "--study", "lr_bs", "--to", "sqlite:///runs/sweep.db"],
        2,
        "there is a study lr_bs in {folder}/runs/sweep.db already; delete that one, or copy to "
        "another database",
    ),
    (
        ["studies", "copy", "--study", "lr_bs", "--to", "other.db"],
        2,
        "other.db is a path; write sqlite:///other.db",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "code", "message"), WRONG_CHANGES, ids=lambda value: str(value)[:60]
)
def test_a_change_that_cannot_be_made_is_one_line_and_changes_nothing(
    stored, arguments, code, message
):
    before = answered(stored, "export", "--study", "lr_bs")
    done = sweep(stored, *arguments)
    assert (done.stderr, done.stdout) == (f"error: {message.format(folder=stored)}\n", "")
    assert done.returncode == code
    assert answered(stored, "export", "--study", "lr_bs") == before
    assert [path.name for path in stored.iterdir()] == ["runs"]


def test_files_that_are_there_are_never_written_over(tmp_path):
    (tmp_path / "my_study.yaml").write_text("mine\n")
    done = sweep(tmp_path, "init")
    assert done.stderr == (
        "error: my_study.yaml exists already and stays as it is; give another name\n"
    )
    assert done.returncode == 2
    (tmp_path / "mine.py").write_text("mine\n")
    assert sweep(tmp_path, "init", "new.yaml", "--train", "mine.py").returncode == 2
    assert not (tmp_path / "new.yaml").exists()
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine\n"}


def test_a_bug_of_ours_is_one_line_and_its_traceback_is_there_for_the_asking(stored):
    database = sqlite3.connect(stored / "runs" / "sweep.db")
    with database:
        database.execute("UPDATE sweep_studies SET spec = '{}'")
    database.close()
    done = sweep(stored, "status")
    assert done.returncode == 70
    assert done.stderr == (
        "internal error: KeyError: 'space' (this is a bug; run again with --debug)\n"
    )
    for arguments in (["--debug", "status"], ["status", "--debug"]):
        debugged = sweep(stored, *arguments)
        assert debugged.returncode == 70
        assert debugged.stderr.startswith("Traceback")
        assert debugged.stderr.endswith(done.stderr)


def test_a_database_of_a_newer_version_is_refused(stored):
    database = sqlite3.connect(stored / "runs" / "sweep.db")
    with database:
        database.execute("UPDATE sweep_alembic_version SET version_num = 'r9999'")
    database.close()
    before = (stored / "runs" / "sweep.db").read_bytes()
    for arguments in (["status"], ["run", "--study", "quickstart"]):
        done = sweep(stored, *arguments)
        assert done.returncode == 4, done.stderr
        assert "newer" in done.stderr.splitlines()[-1]
    assert (stored / "runs" / "sweep.db").read_bytes() == before


def test_text_of_a_user_cannot_move_the_cursor(tmp_path: Path):
    done = sweep(tmp_path, "check", "\x1b[2Jstudy")
    assert done.returncode == 3
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [("status",), QUICK, ("check", "quickstart"), ("init", "a.yaml")]
)
def test_a_folder_that_is_gone_is_named_as_the_fault(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && "$0" "$@"'
    done = subprocess.run(
        ["sh", "-c", script, SWEEP, *arguments],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    expected = "error: the folder that this shell stands in is gone; cd to one that exists\n"
    assert done.stderr == expected


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("check", "quickstart")])
def test_an_answer_to_a_full_disk_is_no_bug_of_ours(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [SWEEP, *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 4
    assert done.stderr.startswith("error: the answer cannot be written: ")


def test_names_are_utf8_in_any_locale(tmp_path: Path) -> None:
    snapshot = lr_batch_study()
    named = replace(snapshot, study=replace(snapshot.study, name="größe"))
    fill_store(f"sqlite:///{tmp_path}/runs/sweep.db", named)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = sweep(tmp_path, "export", "--study", "größe", **plain)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("größe,0,")
