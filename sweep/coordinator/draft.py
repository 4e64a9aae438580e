"""Draft: a trial that has been made up and is not stored yet."""

from collections.abc import Mapping
from typing import Any

from sweep import clock
from sweep.records import Params, Study, Trial, TrialState
from sweep.spec.study import StudySpec


def draft(
    spec: StudySpec,
    study: Study,
    number: int,
    params: Params,
    *,
    enqueued: bool,
    tuner_attrs: Mapping[str, Any] | None = None,
) -> Trial:
    """A trial that waits, with the seed that its number has in the study."""
    # Imported here: it takes half a second, and who only looks at a study has no use for it.
    from sweep.tuner.samplers import trial_seed

    return Trial(
        number=number,
        state=TrialState.WAITING,
        params=params,
        seed=trial_seed(spec.search.seed, number),
        space_version=study.space_version,
        enqueued=enqueued,
        tuner_attrs=tuner_attrs or {},
        created_at=clock.utc_now(),
    )
