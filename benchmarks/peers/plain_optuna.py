"""Plain Optuna: `study.optimize` on SQLite, in one process, or in one process for each slot.

This is Optuna's tutorial on distributed optimization: the same script several times, on one
database. It is what people do who want two trials at a time. Everything is Optuna's default: TPE,
and MedianPruner unless `--pruner none`. What a beginner gets wrong is right here: the study is
made once before the others start, and each process takes its share of the cores.
"""

import argparse
import importlib
import subprocess
import sys
from collections.abc import Sequence

import optuna
from optuna.trial import TrialState


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials; the first process makes the study and starts the others."""
    options = _parse(arguments)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    others = [] if options.joins else _started(options)
    study = optuna.load_study(
        study_name="peer",
        storage=options.storage,
        sampler=_sampler(options),
        pruner=optuna.pruners.NopPruner() if options.pruner == "none" else None,
    )
    study.optimize(_objective(options), callbacks=[_stop_after(options.trials)])
    for other in others:
        other.wait()


def _started(options: argparse.Namespace) -> list[subprocess.Popen[bytes]]:
    study = optuna.create_study(study_name="peer", storage=options.storage, direction="maximize")
    study.set_user_attr("epochs", options.epochs)
    study.set_user_attr("epoch_s", options.epoch_s)
    for params in _enqueued(options.objective):
        study.enqueue_trial(params)
    command = [sys.executable, "-m", "benchmarks.peers.plain_optuna", *sys.argv[1:]]
    return [
        subprocess.Popen([*command, "--joins", str(number)])
        for number in range(1, options.processes)
    ]


def _sampler(options: argparse.Namespace) -> optuna.samplers.BaseSampler | None:
    """One process: seeded; several: each on its own, as the same seed would give the same."""
    return optuna.samplers.TPESampler(seed=options.seed * 1000 + options.joins)


def _stop_after(num_trials: int):  # type: ignore[no-untyped-def]
    states = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)
    return optuna.study.MaxTrialsCallback(num_trials, states=states)


def _enqueued(objective: str) -> Sequence[dict[str, object]]:
    if objective != "digits":
        return ()
    from benchmarks.peers.digits import ENQUEUED

    return ENQUEUED


def _objective(options: argparse.Namespace):  # type: ignore[no-untyped-def]
    if options.objective == "digits" and options.processes > 1:
        import torch

        torch.set_num_threads(max(1, torch.get_num_threads() // options.processes))
    return importlib.import_module(f"benchmarks.peers.{options.objective}").objective


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.plain_optuna")
    parser.add_argument("objective", choices=("digits", "sleeping"))
    parser.add_argument("--storage", required=True)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--pruner", choices=("none", "default"), default="default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=0)
    parser.add_argument("--epoch-s", type=float, default=0.0)
    parser.add_argument("--joins", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
