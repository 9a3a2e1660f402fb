"""penstock: one durable queue engine, five wire dialects, one history."""

__version__ = "0.1.0"
