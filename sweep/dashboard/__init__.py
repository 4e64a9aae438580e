"""Dashboard: our pages and Optuna's own over the stored studies, read-only, on loopback."""
