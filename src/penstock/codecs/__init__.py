"""Bytes to values and back. No state, no IO, no rules: this room knows only the model."""
