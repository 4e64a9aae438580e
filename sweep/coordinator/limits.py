"""Limits of memory: how many images at once are known not to fit on a slot, for any study."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import psutil

from sweep.fleet.slots import Slot
from sweep.records import MemoryKey, Trial
from sweep.spec.recipe import RecipeSpec
from sweep.spec.study import StudySpec
from sweep.store.leadership import Leadership
from sweep.store.store import Store
from sweep.wire import EpochReport, Failed, Finished


class MemoryLimits:
    """What is known of a recipe's need of memory: asked before an attempt, noted as it reports.

    Of a user's own training function nothing is known.
    """

    def __init__(
        self, spec: StudySpec, slots: Sequence[Slot], store: Store, leadership: Leadership
    ) -> None:
        self._spec = spec
        self._slots = slots
        self._store = store
        self._leadership = leadership
        self._recipe_hash = recipe_hash(spec.recipe)
        self._noted: set[tuple[MemoryKey, str, int]] = set()

    def too_large(self, slot: Slot, trial: Trial) -> int | None:
        """The smallest number of images at once that did not fit there before, if any."""
        key = self._key(slot, trial)
        return None if key is None else self._store.too_large(key)

    def note(self, slot: Slot, trial: Trial, message: EpochReport | Finished | Failed) -> None:
        """Keep what an attempt has found out, for later trials of every study."""
        key = self._key(slot, trial)
        if key is None or isinstance(message, Finished):
            return
        if message.too_large is not None and self._is_news(key, "too_large", message.too_large):
            self._leadership.note_too_large(key, message.too_large)
        fits = message.micro_batch if isinstance(message, EpochReport) else None
        if fits is not None and self._is_news(key, "fits", fits):
            self._leadership.note_fits(key, fits)

    def _is_news(self, key: MemoryKey, what: str, micro_batch: int) -> bool:
        entry = (key, what, micro_batch)
        is_news = entry not in self._noted
        self._noted.add(entry)
        return is_news

    def _key(self, slot: Slot, trial: Trial) -> MemoryKey | None:
        if self._spec.recipe.train is not None:
            return None
        params = self._spec.flat_params(trial.params)
        return MemoryKey(
            device_name=slot.device.name,
            memory_bytes=_memory_bytes(slot, self._slots),
            recipe_hash=self._recipe_hash,
            precision=params["precision"],
            optimizer=params["optimizer"],
        )


def recipe_hash(recipe: RecipeSpec) -> str:
    """The SHA-256 of a recipe in hex, the text of the user's own network included."""
    digest = hashlib.sha256(recipe.model_dump_json().encode())
    factory = None if recipe.model is None else recipe.model.factory
    code = Path((factory or "").rpartition(":")[0])
    if code.suffix == ".py" and code.is_file():
        digest.update(code.read_bytes())
    return digest.hexdigest()


def _memory_bytes(slot: Slot, slots: Sequence[Slot]) -> int:
    """What the processes of one slot may use of its device; 0 where that is unknown."""
    if slot.memory_limit_bytes is not None:
        return slot.memory_limit_bytes
    is_cpu = slot.device.uuid is None
    total = psutil.virtual_memory().total if is_cpu else slot.device.memory_bytes or 0
    return total // sum(each == slot.device for other in slots for each in other.devices)
