"""The tuner: an in-memory Optuna study, rebuilt from our records, that proposes and judges.

It knows params, values and states. It stores nothing and starts nothing.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, create_trial
from optuna.trial import TrialState as OptunaState

from sweep.records import Cause, Direction, Params, ParamValue, Trial, TrialState
from sweep.space.space import Space
from sweep.spec.study import SearchSpec
from sweep.tuner.distributions import sampled_params, suggest
from sweep.tuner.pruners import NUMBER_KEY, pruner_for
from sweep.tuner.samplers import Draw, sampler_for
from sweep.tuner.states import LEARNED_FAILURES, optuna_direction, optuna_state
from sweep.tuner.unchanging import Unchanging

_STUDY_NAME = "sweep"
"""Always the same: Hyperband's brackets follow from it."""
_MAX_DRAWS = {"gp": 3}
_USUAL_MAX_DRAWS = 16
"""How often a point is drawn that was tried already before one is picked that was not. GP fits
its model anew for each, and mostly wants the same point again."""
_MAX_LISTED_POINTS = 1_000_000


class Tuner:
    """Asks for params and judges epochs; the same records always give the same answers.

    `epochs` is how long a trial is planned to be, where that is known.
    """

    def __init__(
        self,
        *,
        space: Space,
        search: SearchSpec,
        direction: Direction,
        epochs: int | None = None,
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._search = search
        self._direction = direction
        self._epochs = epochs
        self._forget()

    def _forget(self) -> None:
        self._study = optuna.create_study(
            study_name=_STUDY_NAME,
            direction=optuna_direction(self._direction),
            pruner=pruner_for(self._search.pruner, self._epochs),
        )
        self._num_drawn = 0
        self._trials: dict[int, optuna.Trial] = {}
        self._last_epochs: dict[int, int] = {}
        self._tried: set[object] = set()
        self._points: Iterator[Params] | None = None

    def restore(self, trials: Iterable[Trial], values: Mapping[int, Mapping[int, float]]) -> None:
        """Know these trials and nothing else; `values` is the objective by trial and epoch.

        Of one that is excluded no more is kept than that its point was tried.
        """
        self._forget()
        for trial in sorted(trials, key=lambda trial: trial.number):
            self._add(trial, values.get(trial.number, {}))
            self._num_drawn += not trial.enqueued

    def ask(self, number: int) -> Params | None:
        """The params of a new trial, or None when every point of the space has been tried."""
        params = self._ask(number)
        self._num_drawn += params is not None
        return params

    def begin(self, number: int, params: Params) -> None:
        """Take up a trial whose params were not drawn here."""
        self._insert(number, params, OptunaState.RUNNING, None, {}, {})

    def attrs(self, number: int) -> dict[str, Any]:
        """What sampler and pruner keep with a trial, to be stored and given back."""
        trial = self._trials[number]
        frozen: FrozenTrial = self._study.get_trials(deepcopy=False)[trial.number]
        return dict(frozen.system_attrs)

    def report(self, number: int, epoch: int, value: float) -> bool:
        """Tell the objective's value after an epoch (zero-based); whether it was news.

        An epoch that a resumed trial went through again changes nothing: it has been judged.
        """
        if epoch <= self._last_epochs.get(number, -1):
            return False
        self._trials[number].report(value, step=epoch + 1)
        self._last_epochs[number] = epoch
        return True

    def should_prune(self, number: int) -> bool:
        """Whether the trial is to be stopped, judged by its last reported epoch."""
        return bool(self._trials[number].should_prune())

    def tell(
        self, number: int, state: TrialState, cause: Cause | None, value: float | None
    ) -> None:
        """End a trial. `value` counts for a complete trial only."""
        trial = self._trials[number]
        if state is TrialState.FAILED and cause in LEARNED_FAILURES:
            self._tell_without_value(number, trial)
        elif state is not TrialState.COMPLETE:
            self._study.tell(trial, state=optuna_state(state, cause))
        elif self._may_learn_from(trial.params):
            self._study.tell(trial, value)
        else:
            self._study.tell(trial, state=OptunaState.FAIL)

    def _tell_without_value(self, number: int, trial: optuna.Trial) -> None:
        # Optuna would give a pruned trial its last good epoch's value. A trial that diverged has
        # none, so its place is taken by a pruned trial that never reported.
        params, distributions = dict(trial.params), dict(trial.distributions)
        self._study.tell(trial, state=OptunaState.FAIL)
        self._study.add_trial(
            create_trial(
                state=OptunaState.PRUNED,
                params=params,
                distributions=distributions,
                user_attrs={NUMBER_KEY: number},
            )
        )

    def _ask(self, number: int) -> Params | None:
        if self._space.configurations or self._search.sampler == "grid":
            return self._ask_list(number)
        if self._space.num_points is None:
            return self._draw(number, 0)
        return self._ask_finite(number, self._space.num_points)

    def _ask_list(self, number: int) -> Params | None:
        self._points = self._points or self._space.points()
        for params in self._points:
            if self._space.key(params) not in self._tried:
                self.begin(number, params)
                return params
        return None

    def _ask_finite(self, number: int, num_points: int) -> Params | None:
        if len(self._tried) >= num_points:
            return None
        for attempt in range(_MAX_DRAWS.get(self._search.sampler, _USUAL_MAX_DRAWS)):
            params = self._draw(number, attempt)
            if params is not None:
                return params
        return self._pick_untried(number)

    def _draw(self, number: int, attempt: int) -> Params | None:
        draw = Draw(number=number, num_before=self._num_drawn, attempt=attempt)
        self._study.sampler = sampler_for(self._search, self._space, draw)
        trial = self._study.ask()
        trial.set_user_attr(NUMBER_KEY, number)
        params = suggest(trial, self._space)
        key = self._space.key(params)
        if self._space.num_points is not None and key in self._tried:
            self._study.tell(trial, state=OptunaState.FAIL)  # samplers and pruners ignore FAIL
            return None
        self._tried.add(key)
        self._trials[number] = trial
        return params

    def _pick_untried(self, number: int) -> Params | None:
        listed = islice(self._space.points(), _MAX_LISTED_POINTS)
        untried = [point for point in listed if self._space.key(point) not in self._tried]
        if not untried:
            return None
        params = random.Random(f"{self._search.seed}:{number}").choice(untried)
        self.begin(number, params)
        return params

    def _add(self, trial: Trial, values: Mapping[int, float]) -> None:
        state = optuna_state(trial.state, trial.cause)
        if trial.excluded and trial.state.is_finished:  # samplers and pruners ignore FAIL
            self._insert(trial.number, trial.params, OptunaState.FAIL, None, {}, {})
            return
        if trial.state is TrialState.FAILED:
            values = {}
        self._insert(trial.number, trial.params, state, trial.value, values, trial.tuner_attrs)

    def _known_params(
        self, params: Params
    ) -> tuple[dict[str, ParamValue], dict[str, BaseDistribution]]:
        """What a sampler can learn from: nothing of params that are no point of this space, as
        those of a trial from before the space was changed may be."""
        if next(self._space.misfits(params), None) is not None:
            return {}, {}
        self._tried.add(self._space.key(params))
        return sampled_params(self._space, params)

    def _may_learn_from(self, params: Mapping[str, Any]) -> bool:
        """Whether the sampler bears a complete trial with these params: GP needs all of them."""
        return bool(params) or self._search.sampler != "gp"

    def _insert(
        self,
        number: int,
        params: Params,
        state: OptunaState,
        value: float | None,
        values: Mapping[int, float],
        attrs: Mapping[str, Any],
    ) -> None:
        inner, distributions = self._known_params(params)
        if not self._may_learn_from(distributions) and state is not OptunaState.RUNNING:
            state, value = OptunaState.FAIL, None
        added = create_trial(
            state=state,
            value=value if state is not OptunaState.RUNNING else None,
            params=inner,
            distributions=distributions,
            user_attrs={NUMBER_KEY: number},
            system_attrs=dict(attrs),
            intermediate_values={epoch + 1: value for epoch, value in values.items()},
        )
        if state is not OptunaState.RUNNING:
            self._study.add_trial(Unchanging.of(added))
            return
        self._study.add_trial(added)
        key = self._study.get_trials(deepcopy=False)[-1]._trial_id
        self._trials[number] = optuna.Trial(self._study, key)
        self._last_epochs[number] = max(values, default=-1)
