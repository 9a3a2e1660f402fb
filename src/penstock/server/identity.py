"""Who a data directory is: the store's id, which its segments carry, and the secret that message ids are made with.

Made once, at the first start. It is never made anew beside an existing journal: ids that clients hold would be lost.
"""

from __future__ import annotations

import os
import secrets
from datetime import UTC, datetime
from typing import Final

import msgspec

from penstock.journal.disk import Disk, put_in_place

IDENTITY_NAME: Final = "identity"
STORE_ID_BYTES: Final = 16
SECRET_BYTES: Final = 32


class BadIdentity(Exception):
    """The file is missing or is not ours; in words for whoever has to mend it."""


class Identity(msgspec.Struct, frozen=True):
    """As it stands in the file, hexadecimal."""

    store: str
    secret: str
    created: str

    @property
    def store_id(self) -> bytes:
        return bytes.fromhex(self.store)

    @property
    def secret_bytes(self) -> bytes:
        return bytes.fromhex(self.secret)


def open_identity(disk: Disk, journal_exists: bool) -> Identity:
    """Reads the identity, or makes it where the directory is new."""
    if IDENTITY_NAME in disk.names():
        return _read(disk.read(IDENTITY_NAME))
    if journal_exists:
        raise BadIdentity(
            f"there is a journal but no `{IDENTITY_NAME}` file beside it; without it the ids of messages are lost. "
            "Put the file back from a backup, or move the journal away to begin anew"
        )
    return _make(disk)


def _read(data: bytes) -> Identity:
    try:
        identity = msgspec.json.decode(data, type=Identity)
        lengths = len(identity.store_id), len(identity.secret_bytes)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadIdentity(f"the `{IDENTITY_NAME}` file cannot be read: {error}") from None
    if lengths != (STORE_ID_BYTES, SECRET_BYTES):
        raise BadIdentity(f"the `{IDENTITY_NAME}` file has a store id or secret of the wrong length")
    return identity


def _make(disk: Disk) -> Identity:
    identity = Identity(
        secrets.token_hex(STORE_ID_BYTES), secrets.token_hex(SECRET_BYTES), datetime.now(UTC).isoformat(" ", "seconds")
    )
    for left in [name for name in disk.names() if name.startswith(f"{IDENTITY_NAME}.")]:
        disk.remove(left)
    put_in_place(disk, f"{IDENTITY_NAME}.{os.getpid()}", IDENTITY_NAME, msgspec.json.encode(identity) + b"\n")
    return identity
