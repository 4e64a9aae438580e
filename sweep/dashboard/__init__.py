"""Dashboard: Optuna's own pages over the projection, read-only and on loopback."""
