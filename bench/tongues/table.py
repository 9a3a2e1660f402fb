"""Every tongue by its name. A new protocol is a class, a row here, and a row of `bench/rows.py`."""

from __future__ import annotations

from bench.tongues.amqp import Amqp
from bench.tongues.etzel import Etzel
from bench.tongues.glovebox import GloveboxBincode, GloveboxJson
from bench.tongues.lines import Beanstalkd, Deferred
from bench.tongues.nats import Nats
from bench.tongues.pinpriq import Pinpriq
from bench.tongues.rsmq import Bare, Facade, Rsmq
from bench.tongues.tongue import Tongue


def tongue(name: str, number: int, in_flight: int, queues: int) -> Tongue:
    """One connection's tongue; `queues` for those that speak to many. Behind a colon: the stage of every answer."""
    name, _, stage = name.partition(":")
    if name == "pinpriq":
        return Pinpriq(number, in_flight, queues)
    if name == "glovebox":
        return GloveboxJson(number, in_flight, stage.encode())
    if name == "bincode":
        return GloveboxBincode(number, in_flight, stage.encode())
    return _TONGUES[name](number, in_flight)


_TONGUES: dict[str, type[Tongue]] = {
    "deferred": Deferred,
    "etzel": Etzel,
    "beanstalkd": Beanstalkd,
    "rsmq": Rsmq,
    "rsmq bare": Bare,
    "rsmq facade": Facade,
    "nats": Nats,
    "amqp": Amqp,
}
