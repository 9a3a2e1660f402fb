"""Clients of all dialects on the same messages, and the history of what they asked and were told."""
