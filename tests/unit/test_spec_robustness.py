"""Whatever stands in a study file, the loader gives a spec or explains each fault in a line."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_texts import LR, OBJECTIVE, OPTIMIZER, SEARCH, SPACE, TRAINING, changed

from sweep.errors import StudyFileError
from sweep.spec.load import load_study_file
from sweep.spec.study import StudySpec

STUDIES = Path(__file__).parents[2] / "studies"
TEXTS = [path.read_text() for path in sorted(STUDIES.glob("*.yaml"))]
WORDS = sorted(set(re.findall(r"[\w.]+|[^\w\s]", "".join(TEXTS))))
KEYS = sorted(
    set(re.findall(r"(\w+):", "".join(TEXTS)))
    | {"configurations", "checkpoints", "augment", "val_size", "path", "train", "step", "value"}
)

no_deadline = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3000)
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)
ranges = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["float", "int", "categorical"]) | scalars,
        "low": scalars,
        "high": scalars,
        "log": st.booleans() | scalars,
        "step": scalars,
        "choices": st.lists(scalars, max_size=3) | scalars,
        "value": scalars,
        "when": st.dictionaries(
            st.sampled_from(["lr", "optimizer", "batch_size"]), st.lists(scalars, max_size=3)
        ),
    },
)
spaces = st.dictionaries(
    st.sampled_from(["lr", "optimizer", "batch_size", "momentum", "milestones", "clip_grad_norm"]),
    ranges | st.lists(ranges, max_size=3) | values,
    max_size=4,
)


def load_or_explain(path: Path, data: bytes) -> StudySpec | None:
    """The spec of these bytes, or None after checking that each problem is one line."""
    path.write_bytes(data)
    try:
        return load_study_file(path)
    except StudyFileError as error:
        problems, text = error.problems, str(error)
    assert problems
    assert len(text.splitlines()) == len(problems)
    return None


@no_deadline
@given(data=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_explained(tmp_path: Path, data: bytes) -> None:
    load_or_explain(tmp_path / "s.yaml", data)


@no_deadline
@given(draw=st.data())
def test_any_mutation_of_a_shipped_study_is_read_or_explained(
    tmp_path: Path, draw: st.DataObject
) -> None:
    text = draw.draw(st.sampled_from(TEXTS))
    parts = re.split(r"(\w+|[^\w\s])", text)
    for _ in range(draw.draw(st.integers(1, 3))):
        position = draw.draw(st.integers(0, len(parts) - 1))
        parts[position] = draw.draw(st.sampled_from(WORDS) | st.text(max_size=3))
    spec = load_or_explain(tmp_path / "s.yaml", "".join(parts).encode(errors="replace"))
    if spec is not None:
        assert StudySpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


@no_deadline
@given(sections=st.dictionaries(st.sampled_from(KEYS), values, max_size=6), space=spaces)
def test_any_values_under_known_keys_are_read_or_explained(
    tmp_path: Path, sections: dict[str, object], space: dict[str, object]
) -> None:
    base = {
        "data": {"name": "digits"},
        "objective": {"metric": "test_accuracy", "direction": "maximize"},
        "training": {"epochs": 3},
        "space": space,
    }
    text = json.dumps({**base, **sections}, ensure_ascii=False)
    load_or_explain(tmp_path / "s.yaml", text.encode(errors="replace"))


@pytest.mark.parametrize("word", ["[", "{a: ", "- ", "? ", "a: ", '"', "&a [*a, ", "!!x "])
def test_deep_or_endless_nesting_is_explained(tmp_path: Path, word: str) -> None:
    assert load_or_explain(tmp_path / "s.yaml", f"space: {word * 900}".encode()) is None
    block = "\n".join(f"{' ' * depth}a:" for depth in range(700))
    assert load_or_explain(tmp_path / "s.yaml", block.encode()) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OPTIMIZER, '  optimizer: {choices: ["a\\nb", "a\\nb"]}\n'),
        (TRAINING, 'training: {epochs: ["a\\nb", ~]}\n'),
        (TRAINING, 'training: {epochs: 6, "a\\nb": 1}\n'),
        (LR, '  "l\\nr": {value: 1}\n'),
        (LR, '  lr: {when: {"a\\nb": ["c"]}, value: 1}\n'),
        (LR, '  lr: {when: {optimizer: ["c\\nd"]}, value: 1}\n'),
        (SEARCH, 'enqueue: [{"a\\nb": 1}, {optimizer: "a\\nb", lr: 3}]\n'),
        (OBJECTIVE, 'objective: {metric: "a\\nb", direction: "c\\nd"}\n'),
        (SPACE, 'configurations: [{"a\\nb": 1}, {lr: "a\\nb"}]\n'),
    ],
)
def test_a_line_break_in_the_file_breaks_no_message(tmp_path: Path, old: str, new: str) -> None:
    assert load_or_explain(tmp_path / "s.yaml", changed(old, new).encode()) is None
