"""Readers of a snapshot: tables, the best trials, a summary, figures and a report."""
