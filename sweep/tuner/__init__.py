"""The door to Optuna: asking for params, judging epochs, and the projection for its dashboard."""
