"""Checkpoints: whole or not there, exactly what was saved, and nothing that could run code."""

import os
import pickle
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from sweep.errors import BrokenContractError, DamagedCheckpointError
from sweep.records import Checkpoint
from sweep.training.checkpoint import load_checkpoint, save_checkpoint


class Payload:
    """What a pickle would do if it were let."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("/tmp/a-checkpoint-ran-code",)


def test_what_is_loaded_is_what_was_saved(tmp_path: Path) -> None:
    state = {
        "weights": {"layer.0": torch.arange(6.0).view(2, 3)},
        "history": [1, 2.5, None, True, "text", b"bytes"],
        "pair": (torch.tensor(3), {7: "seven"}),
    }
    saved = save_checkpoint(tmp_path / "new" / "a.pt", state, 4, {"test_loss": 0.5})
    loaded = load_checkpoint(saved)
    assert (saved.epoch, loaded.epoch, loaded.metrics) == (4, 4, {"test_loss": 0.5})
    assert torch.equal(loaded.state["weights"]["layer.0"], state["weights"]["layer.0"])
    assert loaded.state["history"] == state["history"]
    assert loaded.state["pair"][0].item() == 3
    assert loaded.state["pair"][1] == {7: "seven"}


def test_arrays_become_tensors_and_numpys_numbers_pythons(tmp_path: Path) -> None:
    state = {"array": np.arange(3), "number": np.float32(0.5)}
    loaded = load_checkpoint(save_checkpoint(tmp_path / "a.pt", state, 0, {}))
    assert loaded.state["array"].tolist() == [0, 1, 2]
    assert loaded.state["number"] == 0.5


@pytest.mark.parametrize(
    "array",
    [np.arange(4)[::-1], np.arange(4).astype(">i8"), np.eye(3)[:, ::-2], np.array(2.5)],
    ids=["backwards", "other byte order", "both", "no dimension"],
)
def test_an_array_is_saved_however_it_lies_in_memory(tmp_path: Path, array: Any) -> None:
    loaded = load_checkpoint(save_checkpoint(tmp_path / "a.pt", {"array": array}, 0, {}))
    assert loaded.state["array"].tolist() == array.tolist()


def test_a_state_may_be_nothing_but_a_number(tmp_path: Path) -> None:
    assert load_checkpoint(save_checkpoint(tmp_path / "a.pt", 7, 0, {})).state == 7


def test_metrics_that_are_not_finite_survive(tmp_path: Path) -> None:
    saved = save_checkpoint(tmp_path / "a.pt", {}, 0, {"loss": float("nan")})
    assert np.isnan(load_checkpoint(saved).metrics["loss"])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"a": [1, Payload()]}, "state['a'][1] is a Payload"),
        ({"a": {1, 2}}, "state['a'] is a set"),
        ({(1, 2): 3}, "state has a key (1, 2)"),
        ({"a": np.array([{}])}, "state['a'] is a ndarray"),
        ({"a": np.zeros(2, np.longdouble)}, "state['a'] is of NumPy's type"),
        ({"a": np.longdouble(2)}, "state['a'] is of NumPy's type"),
        ({"a": lambda: 0}, "state['a'] is a function"),
    ],
)
def test_a_state_that_could_not_be_loaded_again_is_refused_by_name(
    tmp_path: Path, state: Any, message: str
) -> None:
    with pytest.raises(BrokenContractError) as caught:
        save_checkpoint(tmp_path / "a.pt", state, 0, {})
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


class Pair(NamedTuple):
    """What a user may keep two things in."""

    left: int
    right: Any


def test_a_named_tuple_and_an_ordered_dict_are_saved_as_plain_ones(tmp_path: Path) -> None:
    shape = torch.zeros(2, 3).shape
    state = {
        "shape": shape,
        "pair": Pair(1, Pair(2, 3)),
        "ordered": torch.nn.Linear(1, 1).state_dict(),
    }
    loaded = load_checkpoint(save_checkpoint(tmp_path / "a.pt", state, 0, {}))
    assert tuple(loaded.state["shape"]) == (2, 3)
    assert loaded.state["pair"] == (1, (2, 3))
    assert set(loaded.state["ordered"]) == {"weight", "bias"}


def test_saving_leaves_only_the_checkpoint_also_over_an_old_one(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "a.pt", {"x": 1}, 0, {})
    newer = save_checkpoint(tmp_path / "a.pt", {"x": 2}, 1, {})
    assert [path.name for path in tmp_path.iterdir()] == ["a.pt"]
    assert load_checkpoint(newer).state == {"x": 2}


def test_a_disk_that_refuses_leaves_the_old_checkpoint_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = save_checkpoint(tmp_path / "a.pt", {"x": 1}, 0, {})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            save_checkpoint(tmp_path / "a.pt", {"x": 2}, 1, {})
    assert load_checkpoint(old).state == {"x": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.pt"]


@pytest.mark.parametrize("kept", [0, 10, 300])
def test_a_checkpoint_cut_short_is_damaged(tmp_path: Path, kept: int) -> None:
    saved = save_checkpoint(tmp_path / "a.pt", {"x": torch.zeros(100)}, 0, {})
    path = Path(saved.path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DamagedCheckpointError, match="cut short or changed"):
        load_checkpoint(saved)


def test_one_changed_bit_is_damage(tmp_path: Path) -> None:
    saved = save_checkpoint(tmp_path / "a.pt", {"x": torch.zeros(100)}, 0, {})
    content = bytearray(Path(saved.path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(saved.path).write_bytes(content)
    with pytest.raises(DamagedCheckpointError):
        load_checkpoint(saved)


def test_an_absent_checkpoint_is_damaged(tmp_path: Path) -> None:
    saved = save_checkpoint(tmp_path / "a.pt", {}, 0, {})
    Path(saved.path).unlink()
    with pytest.raises(DamagedCheckpointError, match="No such file"):
        load_checkpoint(saved)


@pytest.mark.parametrize("content", [b"", b"text", pickle.dumps({"epoch": 1})])
def test_a_file_of_something_else_is_damaged_though_its_hash_is_right(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    named = Checkpoint(epoch=0, path=str(path), sha256=sha256(content).hexdigest())
    with pytest.raises(DamagedCheckpointError):
        load_checkpoint(named)


def test_loading_runs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    torch.save({"epoch": 0, "metrics": {}, "state": Payload()}, path)
    named = Checkpoint(epoch=0, path=str(path), sha256=sha256(path.read_bytes()).hexdigest())
    with pytest.raises(DamagedCheckpointError):
        load_checkpoint(named)
    assert not Path("/tmp/a-checkpoint-ran-code").exists()


def test_the_hash_is_that_of_the_bytes_on_disk(tmp_path: Path) -> None:
    saved = save_checkpoint(tmp_path / "a.pt", {}, 0, {})
    assert sha256(Path(saved.path).read_bytes()).hexdigest() == saved.sha256
    with pytest.raises(DamagedCheckpointError):
        load_checkpoint(replace(saved, sha256="0" * 64))
