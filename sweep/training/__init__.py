"""Training: models, data sets, and one generator that yields once per epoch."""
