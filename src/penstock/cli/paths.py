"""Queues and messages as they are named on the command line, and where the server's API has them."""

from __future__ import annotations

import os
from typing import Final

import click

from penstock.codecs import names


class QueueName(click.ParamType[bytes, str]):
    """Any bytes, written as `penstock queue list` shows them."""

    name = "queue"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """A name that is not UTF-8 in the shell is taken as it is."""
        try:
            return names.parse(value)
        except UnicodeEncodeError:
            return os.fsencode(value)


QUEUE: Final = QueueName()


def queue_path(queue: bytes, below: str = "") -> str:
    return f"/queues/{names.in_url(queue)}{below}"


def message_path(message_id: str) -> str:
    return f"/messages/{names.in_url(os.fsencode(message_id))}"
