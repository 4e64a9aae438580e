"""The program that leads a study: asks, assigns, stores, judges."""
