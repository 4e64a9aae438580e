"""Peers: what people write today for the same work, as their libraries' own examples have it."""
