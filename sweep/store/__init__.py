"""The store: the one door to the database, and the only place that knows SQL."""
