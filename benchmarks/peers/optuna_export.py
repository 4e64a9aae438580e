"""An export as people write it: `study.trials_dataframe()` into a CSV file.

`python -m benchmarks.peers.optuna_export URL STUDY FILE`; one row a trial, without the epochs.
"""

import sys

import optuna


def main() -> None:
    """Write the study's trials to the file."""
    url, name, path = sys.argv[1:]
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optuna.load_study(study_name=name, storage=url).trials_dataframe().to_csv(path, index=False)


if __name__ == "__main__":
    main()
