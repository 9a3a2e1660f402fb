"""What `penstock` itself exports of the client: all that its users name."""

from __future__ import annotations

from penstock.client.backoff import Backoff
from penstock.client.client import Client
from penstock.client.drafts import Draft
from penstock.client.errors import (
    BadRequest,
    Denied,
    Disconnected,
    Full,
    LeaseLost,
    NoQueue,
    PenstockError,
    Timeout,
)
from penstock.client.frames import Published
from penstock.client.handlers import Drop, Retry
from penstock.client.message import Message
from penstock.client.worker import Worker

__all__ = [
    "Backoff",
    "BadRequest",
    "Client",
    "Denied",
    "Disconnected",
    "Draft",
    "Drop",
    "Full",
    "LeaseLost",
    "Message",
    "NoQueue",
    "PenstockError",
    "Published",
    "Retry",
    "Timeout",
    "Worker",
]
