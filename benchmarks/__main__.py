"""Run benchmarks: `python -m benchmarks NAME...`; each prints its tables and writes its JSON."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from benchmarks.options import Options
from benchmarks.result import Recording, Table, text_of, write_json

Benchmark: TypeAlias = Callable[[Options], Iterator[Table]]

MODULES = {
    "data": "benchmarks.data",
    "step": "benchmarks.step",
    "sweep": "benchmarks.whole_sweep",
    "overhead": "benchmarks.overhead",
    "growth": "benchmarks.growth",
    "cold": "benchmarks.cold",
}
RESULTS = Path("runs/bench")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks that are named, one after the other."""
    options = _parse(arguments)
    # As a worker sets them: threads beyond the cores would fight for them.
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    for name in options.names:
        path = options.output or RESULTS / f"{name}.json"
        _run(name, path, _options_from(options))


def _run(name: str, path: Path, options: Options) -> None:
    command = [Path(sys.executable).name, "-m", "benchmarks", *sys.argv[1:]]
    settings = {"quick": options.quick, "rounds": options.num_rounds, "seeds": options.num_seeds}
    recording = Recording(name, command, settings)
    run: Benchmark = import_module(MODULES[name]).run
    tables = []
    for table in run(options):
        print(text_of(table), flush=True)
        tables.append(table)
        write_json(path, recording.document(tables))
    print(f"wrote {path}\n", flush=True)


def _options_from(parsed: argparse.Namespace) -> Options:
    return Options(
        quick=parsed.quick,
        rounds=parsed.rounds,
        seeds=parsed.seeds,
        npz=None if parsed.npz is None else parsed.npz.resolve(),
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="+", choices=tuple(MODULES), metavar="NAME")
    parser.add_argument("-o", "--output", type=Path, help="JSON file (runs/bench/NAME.json)")
    parser.add_argument("--quick", action="store_true", help="tiny; the figures mean nothing")
    parser.add_argument("--rounds", type=_count, default=3, help="turns of each contender (3)")
    parser.add_argument("--seeds", type=_count, default=5, help="searches that are compared (5)")
    parser.add_argument("--npz", type=Path, help="images to use in place of made-up ones")
    parsed = parser.parse_args(arguments)
    if parsed.output is not None and len(parsed.names) > 1:
        parser.error("-o takes one NAME; leave it out, or run the benchmarks one by one")
    return parsed


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no count; give a whole number from 1")
    return int(text)


if __name__ == "__main__":
    main()
