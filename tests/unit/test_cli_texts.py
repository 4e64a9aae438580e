"""Texts of the command line: grids, facts, values of flags, endings and rankings."""

import pytest

from sweep.cli.best_text import NoneCompleteError, best_text, found_best
from sweep.cli.ending import ending_text
from sweep.cli.grid import facts_text, grid
from sweep.cli.studies import study_flag
from sweep.cli.values import number, settings_of, word
from sweep.errors import UsageError
from sweep.records import Holder, Lease
from sweep.spec.key_kinds import Duration, Size
from sweep.spec.kinds import Whole
from sweep.spec.study import BudgetSpec
from sweep.store.leases import led_by_another
from sweep.views.ranking import Rank, ranked_by
from tests.snapshots import MIB, SnapshotBuilder, lr_batch_study, make_spec


def test_a_grid_aligns_numbers_to_the_right_and_cuts_its_last_column():
    rows = [["name", "count", "text"], ["a", "7", "long text that has no room"], ["量", "12", "b"]]
    assert grid(rows, 20) == ["name  count  text", "a         7  long t…", "量       12  b"]


def test_facts_are_wrapped_beside_their_names_and_empty_ones_left_out():
    facts = [("name", "one two three four"), ("", "more"), ("none", " ")]
    assert facts_text(facts, 16) == "name  one two\n      three four\n      more\n"


def test_the_text_of_a_flag_becomes_its_value():
    assert number("--cpu", Whole(1))("12") == 12
    assert word("--grace", Duration())("1m30s") == 90.0
    assert word("--memory-limit", Size())("1.5 GiB") == 3 * 2**29
    with pytest.raises(UsageError, match="--cpu 007 starts with a zero"):
        number("--cpu", Whole(1))("007")


@pytest.mark.parametrize("text", ["2", "2G", "0MiB", "-1GiB", "1e9GiB", "2 gib", "GiB", ""])
def test_a_size_has_a_unit_and_is_of_bytes(text):
    assert word("--memory-limit", Size())("512MiB") == 512 * 2**20
    assert word("--memory-limit", Size())("2GB") == 2 * 10**9
    with pytest.raises(UsageError, match="it takes a size with a unit, such as 512MiB or 2GiB"):
        word("--memory-limit", Size())(text)


def test_the_best_as_yaml_keeps_what_is_no_training_key_out_of_the_keys():
    spec = make_spec({"lr": [0.1], "gpus_per_trial": [1, 4]}, name="scaling")
    snapshot = SnapshotBuilder(spec).complete(0.9, lr=0.1, gpus_per_trial=4).build()
    assert best_text(snapshot, found_best(snapshot, "accuracy", 1), "yaml", 80) == (
        "  # trial 0 of scaling: test_accuracy 90.00%\n"
        "  # resources: {gpus_per_trial: 4}\n"
        "  epochs: 3\n"
        "  lr: 0.1\n"
    )


def test_a_name_with_a_space_is_one_word_in_every_command_that_is_proposed():
    snapshot = SnapshotBuilder(make_spec({"lr": [0.1]}, name="my study")).failed(lr=0.1).build()
    flag = "--study 'my study'"
    assert study_flag("my study") == flag
    with pytest.raises(NoneCompleteError, match=f"look with: sweep status {flag}$"):
        found_best(snapshot, "accuracy", 1)
    holder = Holder(host="here", pid=1, process_started_at_s=0.0)
    lease = Lease(study_id=1, token=1, holder=holder, is_current=True, expires_in_s=9.0)
    said = str(led_by_another(snapshot.study, lease, ""))
    assert f"`sweep status {flag}`" in said
    assert f"`sweep stop {flag}`" in said


def test_the_last_setting_of_a_key_counts():
    assert settings_of(["a.b=1", "c==x", "a.b=2"]) == {"a.b": "2", "c": "=x"}
    for text in ("a.b", "=1", " =1"):
        with pytest.raises(UsageError, match="is no key=value"):
            settings_of([text])


def test_an_ending_names_the_best_and_what_to_type_next(monkeypatch):
    monkeypatch.delenv("SWEEP_STORAGE", raising=False)
    monkeypatch.delenv("OPTUNA_STORAGE", raising=False)
    lines = ending_text(lr_batch_study(), "postgresql://me:secret@host/db").splitlines()
    assert lines[:4] == [
        "best: trial 1, test_accuracy 92.00%",
        "  optimizer   adam",
        "  batch_size  32",
        "  lr          0.01",
    ]
    flags = "--study lr_bs --storage 'postgresql://me:***@host/db'"
    assert f"compare     sweep export {flags} --by batch_size --format table" in lines
    assert "secret" not in "".join(lines)


def test_an_ending_needs_no_flag_for_the_database_of_the_environment(monkeypatch):
    monkeypatch.setenv("SWEEP_STORAGE", "sqlite:///other.db")
    study = lr_batch_study()
    assert "--storage" not in ending_text(study, None)
    assert "--storage" not in ending_text(study, "sqlite:///other.db")
    assert "--storage sqlite:///runs/sweep.db" in ending_text(study, "sqlite:///runs/sweep.db")


def test_an_ending_without_a_complete_trial_says_where_to_look():
    poor = SnapshotBuilder(make_spec({"lr": [0.1]}, name="it's poor")).failed(lr=0.1).build()
    text = ending_text(poor, None)
    assert text.startswith("no trial is complete: there is no best one\n")
    assert "sweep logs --study 'it'\"'\"'s poor' --trial 0\n" in text


def numbers(*ranked):
    return [row.number for row in ranked]


def test_trials_are_ranked_by_the_objective_or_by_the_least_of_a_number():
    builder = SnapshotBuilder(make_spec({"lr": [1, 2, 3]}))
    slow = {"epoch_s": 9.0, "peak_memory_bytes": 5 * MIB}
    quick = {"epoch_s": 3.0, "peak_memory_bytes": 7 * MIB}
    builder.complete(0.9, lr=1, epochs=slow)
    builder.complete(0.8, lr=2, epochs=quick)
    builder.pruned(0.99, lr=3, epochs={"epoch_s": 1.0, "peak_memory_bytes": MIB})
    snapshot = builder.build()
    assert numbers(*ranked_by(snapshot, Rank.ACCURACY)) == [0, 1]
    assert numbers(*ranked_by(snapshot, Rank.TIME)) == [1, 0]
    assert numbers(*ranked_by(snapshot, Rank.MEMORY)) == [0, 1]
    with pytest.raises(UsageError, match=r"--rank cost: no price is known; set budget\.price"):
        ranked_by(snapshot, Rank.COST)


def test_trials_of_equal_cost_are_ranked_by_the_objective():
    spec = make_spec({"lr": [1, 2]}, budget=BudgetSpec(price_per_gpu_hour=1.0))
    snapshot = SnapshotBuilder(spec).complete(0.5, lr=1).complete(0.6, lr=2).build()
    assert numbers(*ranked_by(snapshot, Rank.COST)) == [1, 0]
