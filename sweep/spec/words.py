"""Words: what other tools call the things that a study file names."""

from collections.abc import Iterable

from sweep.space.names import nearest

CHOICE_SLIPS = {
    "max": "maximize",
    "maximise": "maximize",
    "higher": "maximize",
    "min": "minimize",
    "minimise": "minimize",
    "lower": "minimize",
    "accuracy": "test_accuracy",
    "acc": "test_accuracy",
    "val_acc": "val_accuracy",
    "test_acc": "test_accuracy",
    "loss": "test_loss",
    "bayes": "tpe",
    "bayesian": "tpe",
    "grid_search": "grid",
    "random_search": "random",
    "sobol": "qmc",
    "quasi_random": "qmc",
    "gaussian_process": "gp",
    "successive_halving": "asha",
    "sha": "asha",
    "nop": "none",
    "off": "none",
    "step": "multistep",
    "multi_step": "multistep",
    "steplr": "multistep",
    "multisteplr": "multistep",
    "onecycle": "one_cycle",
    "onecyclelr": "one_cycle",
    "cosineannealinglr": "cosine",
    "cosine_annealing": "cosine",
    "fixed": "constant",
    "amp": "auto",
    "float32": "fp32",
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "best": "best_and_last",
    "momentum": "sgd",
    "uniform": "float",
    "loguniform": "float with log: true",
    "log_uniform": "float with log: true",
    "log_uniform_values": "float with log: true",
    "double": "float",
    "number": "float",
    "real": "float",
    "int_uniform": "int",
    "integer": "int",
    "randint": "int",
    "choice": "categorical",
    "discrete": "categorical",
    "category": "categorical",
    "mnist": "digits",
    "cifar": "cifar10",
    "cifar-10": "cifar10",
    "numpy": "npz",
}

_KEY_SLIPS = {
    "algorithm": ("sampler", "search.sampler"),
    "amp": ("precision", "training.precision"),
    "batch": ("batch_size", "training.batch_size"),
    "batchsize": ("batch_size", "training.batch_size"),
    "bs": ("batch_size", "training.batch_size"),
    "clip": ("clip_grad_norm", "training.clip_grad_norm"),
    "command": ("train", "train"),
    "dataset": ("name", "data"),
    "datasets": ("name", "data"),
    "distribution": ("type",),
    "dtype": ("type", "precision", "training.precision"),
    "early_terminate": ("pruner", "search.pruner"),
    "epoch": ("epochs", "training.epochs"),
    "eta": ("reduction_factor", "search.pruner"),
    "factor": ("gamma", "reduction_factor"),
    "file": ("path", "data.path"),
    "goal": ("direction", "objective.direction"),
    "grace_period": ("min_epochs", "search.pruner"),
    "grad_accum": ("accumulate", "training.accumulate"),
    "gradient_accumulation_steps": ("accumulate", "training.accumulate"),
    "gradient_clip_val": ("clip_grad_norm", "training.clip_grad_norm"),
    "hyperparameters": ("space",),
    "init_lr": ("lr", "training.lr"),
    "learning_rate": ("lr", "training.lr"),
    "learningrate": ("lr", "training.lr"),
    "lr_scheduler": ("schedule", "training.schedule"),
    "max": ("high",),
    "max_epochs": ("epochs", "training.epochs"),
    "max_grad_norm": ("clip_grad_norm", "training.clip_grad_norm"),
    "max_time": ("timeout", "budget.timeout"),
    "max_trials": ("trials", "budget.trials"),
    "maximum": ("high",),
    "method": ("sampler", "search.sampler"),
    "min": ("low",),
    "min_resource": ("min_epochs", "search.pruner"),
    "minimum": ("low",),
    "mixed_precision": ("precision", "training.precision"),
    "mode": ("direction", "objective.direction"),
    "n_epochs": ("epochs", "training.epochs"),
    "n_startup_trials": ("startup_trials", "search.startup_trials"),
    "n_trials": ("trials", "budget.trials"),
    "n_warmup_steps": ("min_epochs", "search.pruner"),
    "wrapped_pruner": ("pruner",),
    "name": ("study",),
    "net": ("model",),
    "network": ("model",),
    "num_epochs": ("epochs", "training.epochs"),
    "num_samples": ("trials", "budget.trials"),
    "num_trials": ("trials", "budget.trials"),
    "opt": ("optimizer", "training.optimizer"),
    "optim": ("optimizer", "training.optimizer"),
    "options": ("choices",),
    "param_space": ("space",),
    "parameters": ("space",),
    "params": ("space",),
    "program": ("train",),
    "pretrained": ("weights", "model.weights"),
    "q": ("step",),
    "quantile": ("percentile",),
    "random_seed": ("seed", "search.seed"),
    "run_cap": ("trials", "budget.trials"),
    "scale": ("log",),
    "scheduler": ("schedule", "training.schedule"),
    "search_space": ("space",),
    "smoothing": ("label_smoothing", "training.label_smoothing"),
    "strategy": ("sampler", "search.sampler"),
    "study_name": ("study",),
    "time_limit": ("timeout", "budget.timeout"),
    "title": ("study",),
    "values": ("choices", "value"),
    "warmup": ("warmup_epochs", "min_epochs", "training.warmup_epochs"),
    "wd": ("weight_decay", "training.weight_decay"),
}


def meant_key(key: str, known: Iterable[str], elsewhere: Iterable[str] = ()) -> str | None:
    """What an unknown key stands for: another tool's word, a key of another place, a near one.

    `elsewhere` holds the whole paths of the keys of all other places: training.epochs.
    """
    here, there = list(known), list(elsewhere)
    for meant in _KEY_SLIPS.get(key.casefold(), ()):
        if meant in here or meant in there:
            return meant
    places = [path for path in there if path.rpartition(".")[2] == key.casefold()]
    return places[0] if len(places) == 1 else nearest(key, here)


def key_hint(key: str, known: Iterable[str], elsewhere: Iterable[str] = ()) -> str:
    """What to do about an unknown key: the one that is meant, or all that are known."""
    here = list(known)
    meant = meant_key(key, here, elsewhere)
    return f"did you mean {meant}?" if meant else f"known: {', '.join(here) or 'none'}"
