"""The desk: where a leader takes in what other commands ask of its trials while it runs."""

from sweep.coordinator.asked import carry_out, outcome_of
from sweep.coordinator.events import Event, Notice, TrialChanged
from sweep.coordinator.ledger import Ledger
from sweep.errors import NotFoundError, TransitionError, UsageError
from sweep.requests import Request, RequestKind
from sweep.spec.study import StudySpec
from sweep.store.leadership import Leadership
from sweep.store.store import Store


class Desk:
    """Carries requests out one by one; what cannot be done is refused, and the sweep goes on."""

    def __init__(
        self, *, spec: StudySpec, store: Store, leadership: Leadership, ledger: Ledger
    ) -> None:
        self._spec = spec
        self._store = store
        self._leadership = leadership
        self._ledger = ledger

    def carry_out(self, request: Request) -> Event:
        """The request is carried out or refused, and pends no more; what to tell of it."""
        study = self._leadership.study
        try:
            trial = carry_out(request, self._spec, study, self._ledger.trials, self._leadership)
        except (NotFoundError, TransitionError, UsageError) as error:
            self._leadership.finish_request(request.id, refusal=str(error))
            return Notice(text=f"refused to {request.kind} a trial: {error}")
        if request.kind is RequestKind.ENQUEUE:
            self._ledger.take_up(trial)
        else:
            self._ledger.revise(trial, self._store.values(study.id, study.metric))
        return TrialChanged(trial=trial, text=outcome_of(request.kind, trial))
