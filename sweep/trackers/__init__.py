"""Trackers: where users keep their logs (TensorBoard, MLflow, W&B), fed beside a sweep."""
