"""What other commands ask of a study's trials, carried out by its leader while it runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
import pytest

from sweep.coordinator.events import Event, Notice, TrialChanged, TrialFinished
from sweep.coordinator.plan import Plan
from sweep.coordinator.session import run_study
from sweep.records import Cause, TrialState
from sweep.requests import RequestKind
from sweep.store.store import open_store
from tests.scripted import QUALITY, acts, scripted_plan, scripted_spec, stored


def run_asking(plan: Plan, when: Callable[[Event], bool], **asked: Any) -> list[Event]:
    """Run the plan to its end; at the first event of a kind somebody asks something of it."""
    kind, arguments = asked["kind"], asked["arguments"]
    events = []
    has_asked = False
    for event in run_study(plan):
        events.append(event)
        if not has_asked and when(event):
            has_asked = True
            with open_store(plan.url, create=False) as store:
                store.add_request(store.study(plan.spec.study).id, kind, arguments)
    assert has_asked
    return events


def is_end_of(number: int) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, TrialFinished) and event.trial.number == number


def slow_plan(folder: Path, space: Any = QUALITY, **changes: Any) -> Plan:
    """Trials that take a second, so that a leader looks at its requests between them."""
    spec = scripted_spec(space, epochs=4, training={"slow": 0.4}, **changes)
    return scripted_plan(folder, spec)


def test_an_excluded_trial_is_no_knowledge_and_not_optunas_best(tmp_path: Path) -> None:
    plan = slow_plan(tmp_path, trials=3)
    events = run_asking(plan, is_end_of(0), kind=RequestKind.EXCLUDE, arguments={"trial": 0})
    (changed,) = [event for event in events if isinstance(event, TrialChanged)]
    assert changed.text == "trial 0 is excluded: it counts in no comparison"
    trials = stored(plan).trials
    assert [trial.excluded for trial in trials] == [True, False, False]
    loaded = optuna.load_study(study_name="scripted", storage=plan.url).trials
    assert loaded[0].state is optuna.trial.TrialState.FAIL
    assert [each.value for each in loaded[1:]] == [trial.value for trial in trials[1:]]


def test_a_failed_trial_is_tried_again_from_its_first_epoch(tmp_path: Path) -> None:
    plan = slow_plan(tmp_path, acts("raise", "fine", "fast"))
    events = run_asking(plan, is_end_of(0), kind=RequestKind.RETRY, arguments={"trial": 0})
    assert any(isinstance(event, TrialChanged) for event in events)
    first, *_ = stored(plan).trials
    assert (first.state, first.cause) == (TrialState.FAILED, Cause.EXCEPTION)
    assert first.attempt == 6, "three attempts each time"
    with open_store(plan.url, create=False) as store:
        reached = {(row.attempt, row.epoch) for row in store.all_epochs(1) if row.trial == 0}
    assert reached == {(1, 0), (4, 0)}, "the fourth goes on from nothing"


def test_an_enqueued_trial_runs_before_what_the_sampler_would_ask(tmp_path: Path) -> None:
    plan = slow_plan(tmp_path, trials=3)
    run_asking(
        plan, is_end_of(0), kind=RequestKind.ENQUEUE, arguments={"params": {"quality": 0.5}}
    )
    trials = stored(plan).trials
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 3
    asked = [trial for trial in trials if trial.enqueued]
    assert [dict(trial.params) for trial in asked] == [{"quality": 0.5}]


@pytest.mark.parametrize(
    ("kind", "arguments", "reason"),
    [
        (RequestKind.EXCLUDE, {"trial": 7}, "has no trial 7"),
        (RequestKind.RETRY, {"trial": 0}, "only a failed trial can be tried again"),
        (RequestKind.ENQUEUE, {"params": {"quality": 9.0}}, "outside the space"),
    ],
)
def test_what_cannot_be_done_is_refused_and_the_sweep_goes_on(
    tmp_path: Path, kind: RequestKind, arguments: dict[str, Any], reason: str
) -> None:
    plan = slow_plan(tmp_path, trials=2)
    events = run_asking(plan, is_end_of(0), kind=kind, arguments=arguments)
    assert any(isinstance(event, Notice) and reason in event.text for event in events)
    assert [trial.state for trial in stored(plan).trials] == [TrialState.COMPLETE] * 2
    with open_store(plan.url, create=False) as store:
        assert store.pending_requests(1) == []
        refusal = store.request(1).refusal
    assert refusal is not None
    assert reason in refusal


def test_what_was_asked_of_a_leader_that_died_is_done_by_the_next(tmp_path: Path) -> None:
    plan = slow_plan(tmp_path, trials=2)
    events = run_study(plan)
    for event in events:
        if is_end_of(0)(event):
            events.close()
            break
    with open_store(plan.url, create=False) as store:
        store.add_request(1, RequestKind.EXCLUDE, {"trial": 0})
        store.add_request(1, RequestKind.DRAIN)
    *_, ended = run_study(plan)
    assert ended.reason == "all trials are finished", "an old request to stop is forgotten"
    assert [trial.excluded for trial in stored(plan).trials] == [True, False]
