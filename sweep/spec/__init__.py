"""The study file and its parsed, checked form."""
