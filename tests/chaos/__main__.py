"""The full form: `python -m tests.chaos [--kills 200] [--trials 100] [--store sqlite]`."""

import argparse
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from tests.chaos.havoc import Havoc, Toll
from tests.chaos.server import Server, postgresql


def main() -> None:
    """Print the toll of each store; exit with 1 when anything was lost."""
    options = _parse()
    stores = [options.store] if options.store else ["sqlite", "postgresql"]
    tolls = {store: _run(store, options) for store in stores}
    for store, toll in tolls.items():
        print(f"{store:<10}  {toll}")
    sys.exit(not all(toll.is_clean for toll in tolls.values()))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--epoch-s", type=float, default=2.6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", choices=["sqlite", "postgresql"])
    return parser.parse_args()


def _run(store: str, options: argparse.Namespace) -> Toll:
    is_server = store == "postgresql"
    with (
        tempfile.TemporaryDirectory(prefix="sweep-chaos-") as folder,
        postgresql() if is_server else nullcontext() as server,
    ):
        return Havoc(
            url=server.url if isinstance(server, Server) else f"sqlite:///{folder}/sweep.db",
            folder=Path(folder),
            trials=options.trials,
            slots=options.slots,
            seed=options.seed,
            epoch_s=options.epoch_s,
            restart_server=server.restart if isinstance(server, Server) else None,
        ).run(options.kills)


if __name__ == "__main__":
    main()
