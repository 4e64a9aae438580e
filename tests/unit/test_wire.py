"""The messages: what is sent arrives the same, and nothing else arrives at all."""

import json
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.errors import WireError
from sweep.records import Cause, Checkpoint
from sweep.wire import (
    MAX_LINE_BYTES,
    Action,
    Assignment,
    Decision,
    EpochReport,
    Failed,
    Fetching,
    Finished,
    Message,
    OnOom,
    Ready,
    Refusal,
    Shutdown,
    decode,
    encode,
)

counts = st.integers(min_value=0, max_value=10**9)
numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=40)
checkpoints = st.builds(Checkpoint, epoch=counts, path=texts, sha256=texts)
values = st.one_of(st.booleans(), st.integers(-(2**53), 2**53), numbers, texts, st.none())
messages = st.one_of(
    st.builds(
        Assignment,
        trial=counts,
        attempt=counts,
        seed=counts,
        params=st.dictionaries(texts, st.one_of(values, st.lists(counts, max_size=3)), max_size=5),
        metric=texts,
        folder=texts,
        log=texts,
        keeps_checkpoints=st.booleans(),
        checkpoint_every=counts,
        resume=st.lists(checkpoints, max_size=3),
        on_oom=st.one_of(st.sampled_from(OnOom), st.none()),
        too_large=st.one_of(counts, st.none()),
    ),
    st.builds(
        Decision, trial=counts, attempt=counts, epoch=counts, action=st.sampled_from(Action)
    ),
    st.builds(Shutdown),
    st.builds(Fetching, name=texts, done_bytes=counts, total_bytes=st.one_of(counts, st.none())),
    st.builds(
        Ready, pid=counts, device_name=texts, versions=st.dictionaries(texts, texts, max_size=3)
    ),
    st.builds(
        EpochReport,
        trial=counts,
        attempt=counts,
        epoch=counts,
        metrics=st.dictionaries(texts, st.one_of(numbers, st.none()), max_size=4),
        finite=st.booleans(),
        lr=st.one_of(numbers, st.none()),
        epoch_s=numbers,
        images_per_s=st.one_of(numbers, st.none()),
        peak_memory_bytes=st.one_of(counts, st.none()),
        checkpoint=st.one_of(checkpoints, st.none()),
        baseline_memory_bytes=st.one_of(counts, st.none()),
        micro_batch=st.one_of(counts, st.none()),
        too_large=st.one_of(counts, st.none()),
    ),
    st.builds(Finished, trial=counts, attempt=counts, stopped=st.booleans()),
    st.builds(
        Failed,
        trial=st.one_of(counts, st.none()),
        attempt=st.one_of(counts, st.none()),
        message=texts,
        traceback=texts,
        cause=st.sampled_from(Cause),
        refusal=st.one_of(st.sampled_from(Refusal), st.none()),
        is_broken_contract=st.booleans(),
        too_large=st.one_of(counts, st.none()),
    ),
)
documents = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(messages)
def test_a_message_arrives_as_it_was_sent(message: Message) -> None:
    line = encode(message)
    assert decode(line) == message
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message_are_refused_as_such(line: bytes) -> None:
    with suppress(WireError):
        decode(line)


@given(documents)
def test_json_that_is_no_message_is_refused_as_such(document: Any) -> None:
    with suppress(WireError):
        decode(json.dumps(document).encode())


@given(messages, st.data())
def test_a_message_with_a_key_changed_is_the_same_kind_or_refused(
    message: Message, data: st.DataObject
) -> None:
    document = json.loads(encode(message))
    name = data.draw(st.sampled_from(sorted(document)))
    document[name] = data.draw(documents)
    with suppress(WireError):
        decode(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"", "a malformed message: : Invalid JSON: EOF while parsing a value"),
        (b"[]", "a malformed message: : Input should be an object"),
        (b'{"type":"decision"}', "a malformed message: decision.trial: Field required"),
        (
            b'{"type":"finished","trial":1,"attempt":1,"stopped":false,"more":1}',
            "a malformed message: finished.more: Unexpected keyword argument",
        ),
        (
            b'{"type":"finished","trial":"1","attempt":1,"stopped":false}',
            "a malformed message: finished.trial: Input should be a valid integer",
        ),
    ],
)
def test_a_malformed_message_is_refused_with_its_first_fault(line: bytes, complaint: str) -> None:
    with pytest.raises(WireError) as refusal:
        decode(line)
    assert str(refusal.value).startswith(complaint)


def test_a_number_that_is_not_finite_cannot_be_sent() -> None:
    report = EpochReport(
        trial=0,
        attempt=1,
        epoch=0,
        metrics={"loss": None},
        finite=False,
        lr=None,
        epoch_s=1.0,
        images_per_s=None,
        peak_memory_bytes=None,
        checkpoint=None,
    )
    object.__setattr__(report, "epoch_s", math.nan)
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(report)


def test_a_line_beyond_the_limit_is_refused_unread() -> None:
    with pytest.raises(WireError, match="at most 4194304 are taken"):
        decode(b" " * (MAX_LINE_BYTES + 1))
