"""Clocks that are set, processes and machines that stand still, and clients who wait meanwhile."""
