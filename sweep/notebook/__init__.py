"""Notebook: what `import sweep` offers to Python: studies as frames and figures, and runs."""
