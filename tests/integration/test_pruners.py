"""Every pruner in a whole study: it stops trials, and something is left to choose from."""

from pathlib import Path

import pytest

from sweep.records import TrialState
from sweep.spec.study import PRUNER_KEYS, PrunerSpec, SearchSpec
from tests.scripted import run_to_end, scripted_plan, scripted_spec, stored

NUM_EPOCHS = 9
STARTUP = {"startup_trials": 2, "min_epochs": 2}
PRUNERS = {
    "none": PrunerSpec(),
    "median": PrunerSpec(name="median", **STARTUP),
    "percentile": PrunerSpec(name="percentile", percentile=50, **STARTUP),
    "asha": PrunerSpec(name="asha", min_epochs=2, reduction_factor=2),
    "hyperband": PrunerSpec(name="hyperband", min_epochs=1, reduction_factor=3),
    "threshold": PrunerSpec(name="threshold", lower=0.4, min_epochs=2),
    "patient": PrunerSpec(name="patient", patience=2, pruner=PrunerSpec(name="median", **STARTUP)),
}


@pytest.mark.parametrize("num_trials", [8, 16])
@pytest.mark.parametrize("name", PRUNER_KEYS)
def test_a_study_on_four_slots_ends_with_a_complete_trial(
    tmp_path: Path, name: str, num_trials: int
) -> None:
    search = SearchSpec(sampler="random", seed=1, pruner=PRUNERS[name])
    spec = scripted_spec(trials=num_trials, epochs=NUM_EPOCHS, search=search)
    plan = scripted_plan(tmp_path, spec, slots=4)
    assert run_to_end(plan).exit_code == 0
    snapshot = stored(plan)
    states = [trial.state for trial in snapshot.trials]
    assert len(states) == num_trials
    assert set(states) <= {TrialState.COMPLETE, TrialState.PRUNED}
    assert TrialState.COMPLETE in states
    if num_trials == 16 and name not in ("none", "patient"):  # all of these get ever better
        assert TrialState.PRUNED in states
    for trial in snapshot.trials:
        num_epochs = sum(epoch.trial == trial.number for epoch in snapshot.epochs)
        if trial.state is TrialState.COMPLETE:
            assert num_epochs == NUM_EPOCHS
        else:
            assert PRUNERS[name].used().get("min_epochs", 1) <= num_epochs < NUM_EPOCHS
