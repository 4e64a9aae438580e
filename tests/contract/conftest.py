"""Fixtures of the contract suite: an open store, a study in it, and its leader."""

from collections.abc import Iterator

import pytest

from sweep.records import Study
from sweep.store.leadership import Leadership
from sweep.store.store import Store, open_store
from tests.contract.stored import ALICE, new_study


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with open_store(store_url, create=True) as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    return store.create_study(new_study())


@pytest.fixture
def leadership(store: Store, study: Study) -> Iterator[Leadership]:
    with store.lead(study.id, ALICE, 60) as led:
        yield led
