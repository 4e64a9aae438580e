"""A trial that trains nothing: it sleeps and reports, so that only the bookkeeping costs."""

import time

import optuna


def objective(trial: optuna.Trial) -> float:
    """Sleep through the epochs that the study's attributes plan; the last accuracy."""
    epochs, epoch_s = trial.study.user_attrs["epochs"], trial.study.user_attrs["epoch_s"]
    quality = trial.suggest_float("quality", 0.1, 1.0)
    reached = 0.0
    for epoch in range(epochs):
        time.sleep(epoch_s)
        reached = quality * (1 - 0.5 ** (epoch + 1))
        trial.report(reached, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return reached
