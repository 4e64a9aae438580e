"""What a study has still to do, and why: what was not begun, cut short, or has no budget left."""

from dataclasses import replace

from sweep.records import Cause, Snapshot, TrialState
from sweep.spec.study import BudgetSpec
from sweep.views.summary import summarize
from sweep.views.unfinished import unfinished
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec


def lines(snapshot: Snapshot) -> list[str]:
    return unfinished(snapshot, summarize(snapshot, None))


def study(**budget: float) -> SnapshotBuilder:
    return SnapshotBuilder(make_spec({"lr": [0.1, 0.2]}, budget=BudgetSpec(trials=8, **budget)))


def test_a_finished_study_has_nothing_open() -> None:
    assert lines(lr_batch_study()) == []


def test_trials_that_have_not_begun_are_counted() -> None:
    spec = make_spec({"lr": [0.1] * 8}, budget=BudgetSpec(trials=8))
    builder = SnapshotBuilder(spec).complete(0.5, lr=0.1)
    assert lines(builder.waiting(lr=0.2).build()) == []  # one point only is planned
    many = make_spec({"lr": list(range(8))}, budget=BudgetSpec(trials=8))
    builder = SnapshotBuilder(many).complete(0.5, lr=1).running(0.4, lr=2).waiting(lr=3)
    assert lines(builder.build()) == [
        "6 trials of 8 have not begun",
        "trial 1 is running, or cut short",
    ]


def test_a_trial_that_was_cut_short_says_why() -> None:
    lost = {"state": TrialState.FAILED, "cause": Cause.LOST, "message": "killed by signal 9"}
    many = make_spec({"lr": list(range(8))}, budget=BudgetSpec(trials=2))
    builder = SnapshotBuilder(many).running(0.4, lr=2, attempt=lost, trial={"attempt": 1})
    snapshot = builder.add(TrialState.RUNNING, (0.5,), lr=3).build()
    waiting = [
        trial if trial.number else type(trial)(**fields_of(trial) | {"state": TrialState.WAITING})
        for trial in snapshot.trials
    ]
    told = lines(Snapshot(**fields_of(snapshot) | {"trials": tuple(waiting)}))
    assert told[0] == "trial 0 was cut short (lost) and waits to go on: killed by signal 9"


def test_of_many_trials_that_were_cut_short_ten_are_named_and_none_is_silent() -> None:
    builder = SnapshotBuilder(make_spec({"lr": list(range(40))}, budget=BudgetSpec(trials=30)))
    for index in range(12):
        builder.waiting(lr=index)
    lost = {"state": TrialState.FAILED, "cause": Cause.LOST}
    for index in range(12, 25):
        builder.running(0.4, lr=index, attempt=lost)
    snapshot = builder.build()
    trials = [
        replace(t, state=TrialState.WAITING) if t.number > 11 else t for t in snapshot.trials
    ]
    told = lines(replace(snapshot, trials=tuple(trials)))
    assert told[0] == "17 trials of 30 have not begun"
    assert [line.split()[1] for line in told[1:11]] == [str(number) for number in range(12, 22)]
    assert told[11:] == ["3 more trials were cut short"]


def fields_of(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__slots__}


def test_a_budget_that_is_used_up_is_named() -> None:
    builder = study(max_cost=1.0, price_per_gpu_hour=3600.0, timeout_s=20.0)
    assert lines(builder.complete(0.5, lr=0.1).build())[-2:] == [
        "the budget is used up: max_cost 1.00 USD",
        "the budget is used up: timeout 20.0 s",
    ]
