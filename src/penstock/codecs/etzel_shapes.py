"""Requests of the dialect `etzel` as typed structs, one for each `cmd`. What they mean is not known here.

Not compiled: mypyc drops what stands beside the base of a class, and with it how a struct is tagged.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Body = str | list[Annotated[int, Meta(ge=0, le=255)]] | UnsetType
Number = int | str | UnsetType

# The kinds: to compare two numbers is cheaper than to ask what a struct is an instance of.
SUB: Final = 0
PUB: Final = 1
FET: Final = 2
ACK: Final = 3
ISLP: Final = 4


class Sub(Struct, tag_field="cmd", tag="SUB", forbid_unknown_fields=True):
    kind: ClassVar[Literal[0]] = SUB
    qname: str


class Pub(Struct, tag_field="cmd", tag="PUB", forbid_unknown_fields=True):
    kind: ClassVar[Literal[1]] = PUB
    qname: str
    msg: Body = UNSET
    message: Body = UNSET
    delay: Number = UNSET
    expires: Number = UNSET
    timeout: Number = UNSET


class Fet(Struct, tag_field="cmd", tag="FET", forbid_unknown_fields=True):
    kind: ClassVar[Literal[2]] = FET
    qname: str


class Ack(Struct, tag_field="cmd", tag="ACK", forbid_unknown_fields=True):
    kind: ClassVar[Literal[3]] = ACK
    qname: str
    uid: str


class Del(Ack, tag_field="cmd", tag="DEL", forbid_unknown_fields=True):
    """The same by another name."""


class Islp(Struct, tag_field="cmd", tag="ISLP", forbid_unknown_fields=True):
    kind: ClassVar[Literal[4]] = ISLP
    qname: str


Request = Sub | Pub | Fet | Ack | Del | Islp


def _lenient(kind: type[Struct]) -> type[Struct]:
    """The same, with members that nobody knows."""
    tag = kind.__struct_config__.tag
    return msgspec.defstruct(kind.__name__, [], bases=(kind,), tag_field="cmd", tag=tag, forbid_unknown_fields=False)


# For requests in which all is known, and for the others.
DECODER: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Request)
LENIENT: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(reduce(or_, map(_lenient, get_args(Request))))
