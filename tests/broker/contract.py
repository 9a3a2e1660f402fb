"""What every broker keeps, whatever is behind it: a law is a function of a desk, and `LAWS` has them all."""

from __future__ import annotations

from tests.broker import laws_batches, laws_clients, laws_leases, laws_publishing, laws_queues, laws_waiting
from tests.broker.law import LAWS, Law

__all__ = [
    "LAWS",
    "Law",
    "laws_batches",
    "laws_clients",
    "laws_leases",
    "laws_publishing",
    "laws_queues",
    "laws_waiting",
]
