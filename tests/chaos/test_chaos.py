"""The short form of the chaos suite: kills and freezes at random moments, on both stores."""

from pathlib import Path

from tests.chaos.havoc import Havoc, Toll
from tests.chaos.server import postgresql


def _assert_nothing_lost(toll: Toll) -> None:
    assert toll.kills >= 8, toll
    assert toll.landed >= 0.3 * toll.kills, toll
    assert toll.is_clean, toll


def test_nothing_is_lost_or_doubled_on_sqlite_whatever_is_killed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sweep.db"
    havoc = Havoc(url=url, folder=tmp_path, trials=16, slots=2, seed=1)
    _assert_nothing_lost(havoc.run(kills=12))


def test_nothing_is_lost_or_doubled_on_postgresql_whatever_is_killed(tmp_path: Path) -> None:
    with postgresql() as server:
        havoc = Havoc(
            url=server.url,
            folder=tmp_path,
            trials=16,
            slots=2,
            seed=2,
            restart_server=server.restart,
        )
        _assert_nothing_lost(havoc.run(kills=12))
