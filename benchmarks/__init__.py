"""Benchmarks: what the product takes, beside what people use today, in one run on one machine."""
