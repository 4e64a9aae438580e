"""Leadership of a study: taken, renewed, given back, lost, and never written without."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sweep.errors import FencedError, LedByAnotherError, StorageError, SweepError
from sweep.records import Cause, TrialState
from sweep.requests import RequestKind
from sweep.store import upkeep
from sweep.store.database import Database
from sweep.store.entries import NewTrial
from sweep.store.store import open_store
from sweep.store.url import locate
from tests.contract.stored import ALICE, BOB, PLACE, add_trial, epoch, new_study, start

EXPIRED_S = -1.0
"""A time to live that is over at once, so that nothing has to wait for it."""

NEW_TRIAL = {
    "number": 7,
    "params": {},
    "seed": 0,
    "space_version": 1,
    "enqueued": True,
    "tuner_attrs": {},
}
VERBS = {
    "renew": lambda led: led.renew(),
    "release": lambda led: led.release(),
    "add_trial": lambda led: add_trial(led, 7),
    "add_trial again": lambda led: add_trial(led, 0),
    "begin_trial": lambda led: led.begin_trial(NewTrial(**NEW_TRIAL), PLACE),
    "start_attempt": lambda led: start(led, 1),
    "store_epoch": lambda led: led.store_epoch(epoch(1)),
    "store_epoch again": lambda led: led.store_epoch(epoch(0)),
    "set_tuner_attrs": lambda led: led.set_tuner_attrs(0, {"a": 1}),
    "finish_trial": lambda led: led.finish_trial(
        trial=0, attempt=1, state=TrialState.PRUNED, value=0.5
    ),
    "interrupt": lambda led: led.interrupt(trial=0, attempt=1, cause=Cause.LOST),
    "finish_request": lambda led: led.finish_request(1),
    "set_spec": lambda led: led.set_spec({}, "", 2),
    "set_excluded": lambda led: led.set_excluded(1, 0, excluded=True),
    "retry": lambda led: led.retry(1, 0),
    "enqueue": lambda led: led.enqueue(1, NewTrial(**NEW_TRIAL)),
    "forget_checkpoints": lambda led: upkeep.forget_checkpoints(led, ["a.pt"]),
    "remove_study": upkeep.remove_study,
}


def state_of(store, study):
    lease = store.leader(study.id)
    led_by = lease and (lease.token, lease.holder)
    return store.snapshot(study.id), store.pending_requests(study.id), led_by


def test_nobody_leads_a_new_study(store, study):
    assert store.leader(study.id) is None


def test_a_leader_is_known_by_process_token_and_time_left(store, study):
    with store.lead(study.id, ALICE, 60) as leadership:
        lease = store.leader(study.id)
        assert (lease.study_id, lease.holder) == (study.id, ALICE)
        assert lease.token == leadership.token == 1
        assert lease.is_current
        assert 50 < lease.expires_in_s <= 60
        assert (leadership.study, leadership.ttl_s) == (study, 60)
    assert store.leader(study.id) is None


class _Absent:
    """An engine whose database is gone; it is asked once."""

    asked = False

    def begin(self):
        assert not self.asked
        self.asked = True
        raise OSError("gone")


def test_a_led_study_is_refused_to_another_with_what_to_do(store, study, leadership):
    expected = (
        r"study 'lr_bs_opt' is led by pid 11 on alpha: look with `sweep status --study lr_bs_opt"
        r" --storage [^`]+`, end it with `sweep stop --study lr_bs_opt --storage [^`]+`, or wait"
        r" (59|60) s for its lease to end"
    )
    for holder in (BOB, ALICE):
        with pytest.raises(LedByAnotherError, match=expected) as caught:
            store.lead(study.id, holder, 60)
        assert type(caught.value) is LedByAnotherError
        assert caught.value.exit_code == 5
    leadership.renew()


def test_a_lease_that_was_given_back_is_free_and_its_token_never_returns(store, study):
    tokens = []
    for holder in (ALICE, BOB, ALICE):
        with store.lead(study.id, holder, 60) as leadership:
            tokens.append(leadership.token)
    assert tokens == [1, 2, 3]


def test_a_lease_whose_time_is_over_is_free_but_still_shown(store, study):
    old = store.lead(study.id, ALICE, EXPIRED_S)
    lease = store.leader(study.id)
    assert (lease.is_current, lease.expires_in_s < 0) == (False, True)
    with store.lead(study.id, BOB, 60) as leadership:
        assert leadership.token == old.token + 1


def test_an_expired_leader_goes_on_while_nobody_took_over(store, study):
    with store.lead(study.id, ALICE, EXPIRED_S) as leadership:
        add_trial(leadership)
        leadership.ttl_s = 60
        leadership.renew()
        assert store.leader(study.id).is_current


def test_a_dead_leader_is_replaced_at_once_by_its_token(store, study, leadership):
    with store.lead(study.id, BOB, 60, replaces=leadership.token) as successor:
        assert store.leader(study.id).holder == BOB
        assert successor.token == leadership.token + 1


def test_only_the_lease_that_is_known_to_be_dead_is_replaced(store, study):
    first = store.lead(study.id, ALICE, 60)
    second = store.lead(study.id, BOB, 60, replaces=first.token)
    with pytest.raises(LedByAnotherError):
        store.lead(study.id, ALICE, 60, replaces=first.token)
    second.renew()


@pytest.mark.parametrize("loss", ["replaced", "released", "released and led again"])
def test_an_old_leader_writes_nothing_more(store, study, loss):
    old = store.lead(study.id, ALICE, 60)
    add_trial(old, 0)
    add_trial(old, 1)
    start(old, 0)
    old.store_epoch(epoch(0))
    store.add_request(study.id, RequestKind.DRAIN)
    if loss != "replaced":
        old.release()
    if loss != "released":
        store.lead(study.id, BOB, 60, replaces=old.token)
    before = state_of(store, study)
    expected = (
        "given up" if loss == "released" else "passed to pid 22 on beta; nothing was written"
    )
    for name in VERBS.keys() - ({"release"} if loss == "released" else set()):
        with pytest.raises(FencedError, match=expected):
            VERBS[name](old)
        assert state_of(store, study) == before, name


def test_a_lease_is_given_back_twice_without_fault(store, study):
    leadership = store.lead(study.id, ALICE, 60)
    for _ in range(2):
        leadership.release()
        assert store.leader(study.id) is None


def test_leaving_a_lost_leadership_is_no_fault_and_frees_nothing(store, study):
    with store.lead(study.id, ALICE, 60) as old:
        store.lead(study.id, BOB, 60, replaces=old.token)
    assert store.leader(study.id).holder == BOB


@pytest.mark.parametrize("error", [KeyboardInterrupt, SweepError])
def test_a_leader_that_fails_gives_its_lease_back(store, study, error):
    with pytest.raises(error), store.lead(study.id, ALICE, 60):
        raise error("a test's own")
    assert store.leader(study.id) is None


def test_a_leader_whose_database_failed_gives_its_lease_back_if_it_answers_again(store, study):
    with pytest.raises(StorageError), store.lead(study.id, ALICE, 60):
        raise StorageError("a test's own")
    assert store.leader(study.id) is None


def test_a_leader_without_a_database_does_not_wait_for_it_again(store, study, monkeypatch):
    def lose_it() -> None:
        with store.lead(study.id, ALICE, 60) as leadership:
            monkeypatch.setattr(leadership._database, "_writing", _Absent())
            raise StorageError("first")

    with pytest.raises(StorageError, match="first"):
        lose_it()
    assert store.leader(study.id).holder == ALICE


def test_of_many_who_want_to_lead_one_does(store_url, store, study):
    def try_to_lead(_):
        with open_store(store_url, create=False) as own:
            try:
                return own.lead(study.id, ALICE, 60).token
            except LedByAnotherError:
                return None

    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(try_to_lead, range(8)))
    assert sorted(token for token in tokens if token) == [1]


def test_leaders_of_two_studies_do_not_meet(store, study, leadership):
    other = store.create_study(new_study("other"))
    with store.lead(other.id, BOB, 60) as second:
        add_trial(second)
        add_trial(leadership)


def test_the_writers_of_several_studies_wait_for_each_other(store, store_url):
    studies = [store.create_study(new_study(f"study {count}")) for count in range(4)]

    def write(study):
        with open_store(store_url, create=False) as own, own.lead(study.id, ALICE, 60) as led:
            for number in range(20):
                add_trial(led, number)
                start(led, number)

    with ThreadPoolExecutor(len(studies)) as pool:
        list(pool.map(write, studies))
    assert [len(store.attempts(study.id)) for study in studies] == [20] * 4


def test_a_long_read_sees_one_moment_and_holds_up_no_writer(store, store_url, study, leadership):
    database = Database(locate(store_url))

    def question(connection):
        from sweep.store import reads

        before = reads.snapshot(connection, study.id)
        add_trial(leadership)
        return before, reads.snapshot(connection, study.id)

    before, after = database.read(question)
    database.close()
    assert before == after
    assert len(store.trials(study.id)) == 1


def test_many_threads_may_ask_while_one_writes(store, study, leadership):
    def ask(_):
        return [len(store.snapshot(study.id).trials) for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(ask, range(8))
        for number in range(20):
            add_trial(leadership, number)
        for counts in answers:
            assert counts == sorted(counts)
    assert len(store.trials(study.id)) == 20
