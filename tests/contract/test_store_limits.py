"""Limits: what is remembered of images that did, and did not, fit in memory at once."""

from dataclasses import replace

import pytest

from sweep.errors import FencedError
from sweep.records import MemoryKey
from tests.contract.stored import ALICE, BOB, new_study

KEY = MemoryKey(
    device_name="NVIDIA H200",
    memory_bytes=150_000_000_000,
    recipe_hash="ab" * 32,
    precision="bf16",
    optimizer="sgd",
)


def test_of_what_was_never_tried_nothing_is_known(store):
    assert store.too_large(KEY) is None


def test_the_smallest_number_that_did_not_fit_is_remembered_for_every_study(store, leadership):
    for size in (512, 256, 384, 256):
        leadership.note_too_large(KEY, size)
    other = store.create_study(new_study("other"))
    with store.lead(other.id, ALICE, 60) as others_leadership:
        others_leadership.note_too_large(KEY, 128)
    assert store.too_large(KEY) == 128


@pytest.mark.parametrize(
    "change",
    [
        {"device_name": "NVIDIA T4"},
        {"memory_bytes": 1},
        {"recipe_hash": "cd" * 32},
        {"precision": "fp32"},
        {"optimizer": "adam"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nothing_follows_for_what_takes_memory_in_another_way(store, leadership, change):
    leadership.note_too_large(KEY, 256)
    assert store.too_large(replace(KEY, **change)) is None


def test_what_has_once_fitted_is_never_too_large(store, leadership):
    leadership.note_fits(KEY, 256)
    for size in (128, 256):
        leadership.note_too_large(KEY, size)
        assert store.too_large(KEY) is None
    leadership.note_too_large(KEY, 512)
    leadership.note_fits(KEY, 64)
    assert store.too_large(KEY) == 512


def test_what_fits_after_all_is_no_longer_too_large(store, leadership):
    leadership.note_too_large(KEY, 256)
    leadership.note_fits(KEY, 300)
    assert store.too_large(KEY) is None
    leadership.note_too_large(KEY, 400)
    assert store.too_large(KEY) == 400


def test_a_leader_of_the_past_remembers_nothing(store, study, leadership):
    with store.lead(study.id, BOB, 60, replaces=leadership.token):
        for note in (leadership.note_fits, leadership.note_too_large):
            with pytest.raises(FencedError):
                note(KEY, 64)
    assert store.too_large(KEY) is None
