"""The search space: what may be chosen, as pure values."""
