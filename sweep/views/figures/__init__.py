"""Figures: series drawn with plotly; what each of them looks like, and nothing of its numbers."""
