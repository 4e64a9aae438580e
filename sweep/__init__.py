"""Hyperparameter sweeps for image classifiers: every GPU busy, nothing lost, tables to trust."""

__version__ = "0.1.0"
