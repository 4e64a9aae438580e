"""The Python interface: a stored study as frames and figures, a run, a training, a notebook."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sweep
from sweep.errors import (
    DeviceError,
    NotFoundError,
    StudyFileError,
    SweepError,
    UnusableError,
    UsageError,
)
from sweep.records import TrialState
from sweep.store.entries import NewTrial
from sweep.store.store import open_store
from tests.console_script import environment
from tests.filled_store import NOBODY, fill_store
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec

STUDIES = Path(__file__).parents[2] / "studies"
OWN = """
def train(params, device, state=None):
    for epoch in range(2):
        yield {"test_accuracy": params["lr"] + epoch / 10}
"""


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The database of a folder that is the current one, with the study lr_bs in it."""
    for name in ("SWEEP_STORAGE", "OPTUNA_STORAGE", "SWEEP_RUN_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    fill_store(f"sqlite:///{tmp_path}/runs/sweep.db", lr_batch_study())
    return f"sqlite:///{tmp_path}/runs/sweep.db"


def test_every_name_of_the_interface_is_there_typed_and_told_to_a_completer() -> None:
    stub = (Path(sweep.__file__).parent / "__init__.pyi").read_text()
    assert set(sweep.__all__) <= set(dir(sweep))
    for name in sweep.__all__:
        assert getattr(sweep, name) is not None
        assert name in stub
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        sweep.laod  # noqa: B018


def test_a_study_is_loaded_by_name_from_the_commands_database(url: str) -> None:
    assert sweep.studies() == ["lr_bs"]
    assert repr(sweep.load("lr_bs")) == "<study lr_bs: 6 trials>"
    assert repr(sweep.load("lr_bs", url)) == "<study lr_bs: 6 trials>"
    with pytest.raises(NotFoundError, match="lr_bs"):
        sweep.load("lr_b")


def test_the_frames_have_types_to_compute_with(url: str) -> None:
    trials = sweep.load("lr_bs").trials()
    assert trials["started_at"].dtype == pd.DatetimeTZDtype("us", "UTC")
    assert trials["state"].cat.categories.tolist() == [state.value for state in TrialState]
    assert trials["trial"].dtype == pd.Int64Dtype()
    assert trials["value"].dtype == np.float64
    complete = trials[trials["state"] == "complete"]
    assert complete.groupby("batch_size")["value"].max().to_dict() == {
        32: 0.92,
        64: 0.92,
        128: 0.9,
    }


def test_epochs_attempts_and_groups_are_frames_too(url: str) -> None:
    study = sweep.load("lr_bs")
    assert study.epochs().groupby("trial")["epoch"].max().tolist() == [2, 2, 1, 1, 2, 2]
    assert study.attempts()["finished_at"].notna().all()
    assert study.by("batch_size")["batch_size"].tolist() == [32, 64, 128]
    assert study.leaders(2)["trial"].tolist() == [1, 5]


def test_every_fault_is_caught_by_one_public_name(url: str) -> None:
    for fault in (lambda: sweep.load("lr_bss"), lambda: sweep.load("lr_bs").by("x")):
        with pytest.raises(sweep.SweepError):
            fault()


def test_the_best_trial_has_its_params(url: str) -> None:
    best = sweep.load("lr_bs").best()
    assert (best.number, best.value, best.params["lr"]) == (1, 0.92, 0.01)


def test_a_study_without_a_complete_trial_says_so(url: str) -> None:
    spec = make_spec({"lr": [0.1]}, name="failed")
    fill_store(url, SnapshotBuilder(spec).failed(lr=0.1).build())
    with pytest.raises(SweepError, match="study failed has no complete trial yet"):
        sweep.load("failed").best()
    with pytest.raises(UsageError, match="no figure history: no trial has a value yet"):
        sweep.load("failed").figure("history")


def test_figures_are_drawn_by_name_and_by_param(url: str) -> None:
    study = sweep.load("lr_bs")
    assert {"lr", "curves", "timeline"} <= set(study.figures())
    assert study.figure("lr").layout.xaxis.title.text == "learning rate (lr)"
    grouped = study.figure("lr", by="batch_size")
    assert {trace.name.partition(",")[0] for trace in grouped.data} == {"32", "64", "128"}
    with pytest.raises(UsageError, match="no figure 'l'"):
        study.figure("l")


def test_two_studies_are_laid_over_each_other(url: str) -> None:
    study = sweep.load("lr_bs")
    names = {trace.name for trace in sweep.compare(study, study).data}
    assert "lr_bs" in names
    with pytest.raises(UsageError, match="it takes two studies or more"):
        sweep.compare(study)


def test_a_study_shows_itself_in_a_notebook(url: str) -> None:
    html = sweep.load("lr_bs")._repr_html_()
    assert "Best test_accuracy: 92.00%, by trial 1." in html
    assert html.count("<tr>") == 1 + 4
    assert "too few to tell" in html


def test_a_users_text_is_no_markup_in_a_notebook(url: str) -> None:
    spec = make_spec({"<b>": ["<i>x</i>"]}, name="<script>alert")
    fill_store(url, SnapshotBuilder(spec).complete(0.5, **{"<b>": "<i>x</i>"}).build())
    html = sweep.load("<script>alert")._repr_html_()
    assert "<script>" not in html
    assert "<i>" not in html


def test_a_report_is_written_from_python(url: str, tmp_path: Path) -> None:
    study = sweep.load("lr_bs")
    assert study.report("a.md") == Path("a.md")
    assert study.report(tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(UsageError, match=r"a.pdf ends in neither .html nor .md"):
        study.report("a.pdf")


def test_a_study_is_read_again_when_it_is_asked_for(url: str) -> None:
    fill_store(url, SnapshotBuilder(make_spec({"lr": [0.1]}, name="later")).build())
    study = sweep.load("later")
    with (
        open_store(url, create=False) as store,
        store.lead(store.study("later").id, NOBODY, 60) as leadership,
    ):
        leadership.add_trial(NewTrial(number=0, params={"lr": 0.1}, seed=0, space_version=1))
    assert len(study.trials()) == 0
    assert study.refresh() is study
    assert study.trials()["trial"].tolist() == [0]


def own_study() -> dict[str, object]:
    return {
        "study": "own",
        "train": "./mine.py:train",
        "objective": {"metric": "test_accuracy", "direction": "maximize"},
        "space": {"lr": {"choices": [0.1, 0.2, 0.3]}},
        "search": {"sampler": "grid"},
    }


def test_a_mapping_is_run_as_a_study_file_would_be(url: str) -> None:
    (Path.cwd() / "mine.py").write_text(OWN)
    study = sweep.run(own_study(), cpu=1, trials=2)
    assert (study.name, len(study.trials())) == ("own", 2)
    assert not list(Path.cwd().glob(".sweep-*"))
    again = sweep.run(own_study(), cpu=1)
    assert again.trials()["state"].tolist() == ["complete"] * 3
    assert again.best().params == {"lr": 0.3}


def test_a_study_file_is_run_with_values_changed(url: str) -> None:
    (Path.cwd() / "mine.py").write_text(OWN)
    Path("own.yaml").write_text(json.dumps(own_study()))
    study = sweep.run(Path("own.yaml"), cpu=1, name="other", changes={"budget.trials": 1})
    assert (study.name, len(study.trials())) == ("other", 1)


def test_a_mistake_in_a_mapping_is_told_of_the_mapping(url: str) -> None:
    with pytest.raises(StudyFileError, match=r"^the mapping: .*spaec.*space") as caught:
        sweep.run({**own_study(), "spaec": {}}, cpu=1)
    assert ".sweep-" not in str(caught.value)
    with pytest.raises(UsageError, match="give the study a name"):
        sweep.run({"space": {}})


def test_gpus_are_taken_as_numbers(url: str) -> None:
    (Path.cwd() / "mine.py").write_text(OWN)
    with pytest.raises(SweepError, match="97"):
        sweep.run(own_study(), gpus=[97])


def test_a_training_is_a_loop_over_its_epochs(url: str) -> None:
    config = sweep.config("digits", {"name": "resnet18", "width": 8}, epochs=2, lr=0.05)
    epochs = list(sweep.train(config))
    assert [epoch.epoch for epoch in epochs] == [0, 1]
    assert 0 <= epochs[1]["test_accuracy"] <= 1
    assert epochs[0].state["epoch"] == 0
    assert repr(epochs[1]).startswith("<epoch 1: train_loss=")
    with pytest.raises(UsageError, match="unknown training key epoch"):
        sweep.config("digits", epoch=2)
    with pytest.raises(UsageError, match=r"data\.name is 'digts'; it takes"):
        sweep.config("digts", epochs=2)


def test_a_trial_can_be_trained_anew(url: str) -> None:
    study = sweep.load("lr_bs")
    assert study.config().training.lr == 0.01
    assert study.config(0).training.batch_size == 128
    assert study.config(0).seed == 1000
    with pytest.raises(UsageError, match="there is no trial 77; the study has 6, from 0"):
        study.config(77)


def test_what_ones_own_function_trained_is_not_given_for_the_built_in_training(url: str) -> None:
    spec = make_spec({"lr": [0.1]}, name="own")
    recipe = spec.recipe.model_copy(update={"train": "./mine.py:train"})
    fill_store(url, SnapshotBuilder(replace(spec, recipe=recipe)).complete(0.5, lr=0.1).build())
    with pytest.raises(UsageError, match=r"trains with ./mine.py:train; call that function"):
        sweep.load("own").config()


def test_a_folder_in_which_no_mapping_can_be_written_is_said(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UnusableError, match="change to a folder that can be written"):
        sweep.run(own_study(), cpu=1, trials=2, storage=url)


def cells_of(path: Path) -> list[str]:
    notebook = json.loads(path.read_text())
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_shipped_notebook_runs_from_its_first_cell_to_its_last(
    path: Path, tmp_path: Path
) -> None:
    assert len(cells_of(path)) >= 6
    program = "\n".join(f"exec(compile({cell!r}, 'cell', 'exec'))" for cell in cells_of(path))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys; sys.path.insert(0, '')\n{program}"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=os.environ.get("PYTHONPATH", str(STUDIES.parent))),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "quickstart.html").exists()


def test_a_shipped_notebook_has_no_outputs_of_somebodys_machine() -> None:
    for path in STUDIES.glob("*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None


def itself() -> dict[str, object]:
    study: dict[str, object] = own_study()
    study["space"] = {"lr": {"choices": [study]}}
    return study


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (None, "study is None; it takes a study's name, its file, or a mapping with its keys"),
        (3, "study is 3; it takes a study's name"),
        (b"own.yaml", "study is of type bytes; it takes a study's name"),
        ("", "study is ''; it takes a study's name"),
        (
            {**own_study(), "train": own_study},
            "the mapping: train is the function own_study; it takes text: name what is in a file "
            "as in ./mine.py:train",
        ),
        (
            {**own_study(), "space": {"lr": {"choices": [0.1, 1j]}}},
            "the mapping: space.lr.choices[1] is of type complex; it takes text, a number, True",
        ),
        ({**own_study(), "space": {1: {}}}, "the mapping: space has the key 1; it takes keys of"),
        ({**own_study(), "description": "\ud800"}, "which is no UTF-8; write it otherwise"),
        (itself(), "the mapping holds itself, or is nested too deeply; flatten it"),
    ],
)
def test_what_is_no_study_is_refused_in_a_line(url: str, study: Any, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        sweep.run(study, cpu=1)
    assert "\n" not in str(caught.value)
    assert not list(Path.cwd().glob(".sweep-*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cpu": "x"}, "cpu is the text 'x'; it takes a whole number of at least 1"),
        ({"cpu": 1.5}, "cpu is 1.5; it takes a whole number of at least 1"),
        ({"cpu": True}, "cpu is true; it takes a whole number of at least 1"),
        ({"cpu": 0}, "cpu is 0; it takes a whole number of at least 1"),
        ({"cpu": [1]}, "cpu is of type list; it takes"),
        ({"gpus": 1.5}, "gpus is 1.5; it takes numbers as nvidia-smi's or UUIDs in a list"),
        ({"gpus": [True]}, "it takes numbers as nvidia-smi's or UUIDs in a list"),
        ({"trials": True}, "trials is true; it takes a whole number"),
        ({"add_trials": "2"}, "add_trials is the text '2'; it takes a whole number"),
        ({"timeout": 5}, "timeout is 5; it takes a time with a unit, such as 90s"),
        ({"max_cost": "x"}, "max_cost is the text 'x'; it takes a number above 0"),
        ({"seed": 1.5}, "seed is 1.5; it takes a whole number"),
        ({"name": 3}, "name is 3, not text"),
        ({"changes": [1]}, "changes is of type list; it takes values by their dotted keys"),
        ({"changes": {"a": print}}, "changes: a is the builtin_function_or_method print"),
        ({"storage": 3}, "storage is 3; it takes a URL such as sqlite:///runs/sweep.db"),
        ({"run_dir": 3}, "run_dir is 3; it takes a folder"),
    ],
)
def test_an_argument_that_is_of_no_use_is_refused_in_a_line(
    url: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        sweep.run(own_study(), **arguments)
    assert "\n" not in str(caught.value)


def test_numpys_numbers_count_as_numbers(url: str) -> None:
    (Path.cwd() / "mine.py").write_text(OWN)
    space = {"lr": {"choices": list(np.array([0.25, 0.5]))}}
    study = sweep.run(
        {**own_study(), "space": space}, cpu=np.int64(1), trials=np.int64(2), seed=np.int32(3)
    )
    assert sorted(study.trials()["lr"]) == [0.25, 0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sweep.load(None), "study is None; it takes a study's name or its file"),
        (lambda: sweep.load("lr_bs", 3), "storage is 3; it takes a URL"),
        (lambda: sweep.studies(3), "storage is 3; it takes a URL"),
        (lambda: sweep.compare("a", "b"), "a study to compare is 'a'; it takes what sweep.load"),
        (lambda: sweep.config(None), "data is None; it takes a name, or a mapping"),
        (lambda: sweep.config("x"), "data.name is 'x'; it takes 'digits', 'cifar10'"),
        (lambda: sweep.config({}), "data.name is missing"),
        (lambda: sweep.config("digits", {"with": 4}), "model.with is no key of model"),
        (lambda: sweep.config("digits", 3, epochs=1), "model is 3; it takes a name, or a mapping"),
        (lambda: sweep.config("digits", epochs=1, seed="x"), "seed is the text 'x'; it takes"),
        (lambda: sweep.config("digits", epochs=print), "training: epochs is the builtin"),
        (lambda: sweep.train(None, "cpu"), "config is None; it takes what sweep.config"),
        (lambda: sweep.train({}, "cpu"), "config is of type dict; it takes what sweep.config"),
        (lambda: sweep.train(small(), 3), "device is 3; it takes a device of torch's"),
        (lambda: sweep.train(small(), "cpu", 3), "state is 3; it takes the state of an earlier"),
        (lambda: sweep.load("lr_bs").figure(3), "name is 3; it takes the name of a figure"),
        (lambda: sweep.load("lr_bs").by(None), "param is None; it takes the name of a param"),
        (lambda: sweep.load("lr_bs").by(["lr"]), "param is of type list; it takes the name of"),
        (lambda: sweep.load("lr_bs").figure("lr", by=1), "by is 1; it takes the name of a param"),
        (lambda: sweep.load("lr_bs").figure("lr", param=["lr"]), "param is of type list; it"),
        (lambda: sweep.load("lr_bs").config(True), "trial is true; it takes a whole number"),
        (lambda: sweep.load("lr_bs").config("x"), "trial is the text 'x'; it takes a whole"),
        (lambda: sweep.load("lr_bs").leaders("x"), "top is the text 'x'; it takes"),
        (lambda: sweep.load("lr_bs").report(None), "path is None; it takes a file such as"),
        (
            lambda: sweep.load("lr_bs").figure("studies"),
            "the figure 'studies' lays two studies or more over each other; "
            "draw it with sweep.compare(study, other)",
        ),
    ],
)
def test_what_a_call_cannot_take_is_refused_in_a_line(
    url: str, call: Callable[[], object], message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        call()
    assert "\n" not in str(caught.value)


def small() -> Any:
    return sweep.config("digits", {"name": "resnet18", "width": 4}, epochs=1)


def test_a_device_that_is_not_there_is_told_before_an_epoch_is_asked_for(url: str) -> None:
    with pytest.raises(DeviceError, match="cannot use nowhere"):
        sweep.train(small(), "nowhere")
