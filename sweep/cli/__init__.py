"""The command line: what a user types, and what is shown; the work is done further down."""
