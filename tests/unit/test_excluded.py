"""A trial that was set apart is seen, and counts for nothing: not for views, not for the tuner."""

from dataclasses import replace

import pytest

from sweep.cli.best_text import NoneCompleteError, found_best
from sweep.cli.ending import ending_text
from sweep.records import Direction, Snapshot, TrialState
from sweep.spec.study import PrunerSpec, SearchSpec
from sweep.tuner.tuner import Tuner
from sweep.views.best import best
from sweep.views.chapter import chapter_of
from sweep.views.comparison import controlled, groups_by
from sweep.views.gallery import Blank, draw, kind_named
from sweep.views.rows import trial_rows
from sweep.views.series.subject import subject_of
from sweep.views.summary import summarize
from sweep.views.tables import trials_table
from tests.scripted import QUALITY
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec, make_trial


def without(snapshot: Snapshot, *numbers: int) -> Snapshot:
    trials = tuple(replace(trial, excluded=trial.number in numbers) for trial in snapshot.trials)
    return replace(snapshot, trials=trials)


def test_it_is_in_the_table_and_in_the_counts_but_never_best():
    snapshot = without(lr_batch_study(), 1, 5)
    table = trials_table([snapshot])
    assert list(table["excluded"].fillna(False)) == [False, True, False, False, False, True]
    assert [row.number for row in best(snapshot, 9)] == [0, 4]
    summary = summarize(snapshot, None)
    assert (summary.excluded, summary.num_finished) == ((1, 5), 6)
    assert summary.best is not None
    assert summary.best.number == 0


def test_it_is_in_no_group_and_makes_no_comparison_uncontrolled():
    snapshot = without(lr_batch_study(), 1, 2, 3)
    groups = groups_by(trial_rows(snapshot), "batch_size", snapshot.study)
    assert [(group.value, group.trials) for group in groups] == [(32, 1), (64, 1), (128, 1)]
    assert controlled(snapshot, "batch_size").is_controlled
    assert not controlled(lr_batch_study(), "batch_size").is_controlled


def test_a_report_shows_it_says_so_and_draws_it_nowhere():
    snapshot = without(lr_batch_study(), 1)
    chapter = chapter_of(snapshot)
    assert "Trial 1 was set apart by hand and not compared." in chapter.caveats
    assert {row.number for row in chapter.subject.rows} == {0, 2, 3, 4, 5}
    assert "excluded" in chapter.trials.frame
    assert "excluded" not in chapter_of(lr_batch_study()).trials.frame


def test_what_only_excluded_trials_make_unequal_is_no_caveat():
    builder = SnapshotBuilder(make_spec({"lr": [0.1, 0.2], "batch_size": [64, 128]}))
    builder.complete(0.5, lr=0.1, batch_size=64, epochs={"num_sharing": 1})
    builder.complete(0.6, lr=0.2, batch_size=64, epochs={"num_sharing": 1})
    other = {"num_sharing": 2, "micro_batch": 1}
    builder.complete(0.7, lr=0.1, batch_size=128, epochs=other, attempt={"device": "GPU-1"})
    words = ("vary together", "kinds of devices", "num_sharing", "no room")

    def told(snapshot):
        return [word for word in words for line in chapter_of(snapshot).caveats if word in line]

    assert told(builder.build()) == list(words)
    assert told(without(builder.build(), 2)) == []


def test_that_nothing_but_excluded_trials_is_there_is_said():
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}))
    snapshot = without(builder.complete(0.5, lr=0.1).failed(lr=0.1).build(), 0)
    assert chapter_of(snapshot).headline == (
        "Every complete trial was set apart by hand, so there is no best one."
    )
    assert "no trial is complete" not in ending_text(snapshot, None)
    with pytest.raises(NoneCompleteError, match="no complete trial that counts"):
        found_best(snapshot, "accuracy", 1)
    drawing = draw(kind_named("history"), subject_of(snapshot))
    assert isinstance(drawing, Blank)
    assert drawing.reason.endswith("; trials that were set apart by hand are not drawn")


def trial(number: int, quality: float, value: float, *, excluded: bool = False):
    return make_trial(
        number, {"quality": quality}, TrialState.COMPLETE, value=value, excluded=excluded
    )


def tuner_of(*trials) -> Tuner:
    search = SearchSpec(
        startup_trials=1, pruner=PrunerSpec(name="median", startup_trials=1, min_epochs=1)
    )
    tuner = Tuner(space=QUALITY, search=search, direction=Direction.MAXIMIZE)
    tuner.restore(trials, {each.number: {0: each.value, 1: each.value} for each in trials})
    return tuner


def test_the_sampler_asks_as_if_it_had_failed_without_a_word():
    known = [trial(number, 0.2 + number / 20, number / 10) for number in range(8)]
    aside = trial(8, 0.9, 5.0, excluded=True)
    lost = make_trial(8, {"quality": 0.9}, TrialState.FAILED)
    assert tuner_of(*known, aside).ask(9) == tuner_of(*known, lost).ask(9)
    assert tuner_of(*known, aside).ask(9) != tuner_of(*known, trial(8, 0.9, 5.0)).ask(9)


@pytest.mark.parametrize("excluded", [False, True])
def test_the_pruner_does_not_measure_others_by_it(excluded):
    tuner = tuner_of(trial(0, 0.9, 0.9, excluded=excluded))
    tuner.begin(1, {"quality": 0.3})
    tuner.report(1, 0, 0.1)
    assert tuner.should_prune(1) is not excluded


def test_a_tuner_that_is_restored_again_knows_nothing_of_before():
    tuner = tuner_of(trial(0, 0.9, 0.9))
    tuner.restore([trial(0, 0.9, 0.9, excluded=True)], {})
    tuner.begin(1, {"quality": 0.3})
    tuner.report(1, 0, 0.1)
    assert not tuner.should_prune(1)
