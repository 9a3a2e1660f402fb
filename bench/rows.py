"""What is compared with what, and what each comparison must reach: the tables. Nothing here starts or measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from bench import servers
from bench.rabbit import NODE
from bench.servers import Start


@dataclass(frozen=True)
class Shape:
    """How many connections, and how many requests each has in flight."""

    connections: int
    in_flight: int

    def __str__(self) -> str:
        return f"{self.connections} x {self.in_flight}"


@dataclass(frozen=True)
class System:
    """A server in one setting, spoken to in one tongue."""

    name: str
    durability: str
    tongue: str
    start: Start
    command: str = ""  # what must be installed: a command in the Debian package of the same name
    library: str = ""  # or what it is made of: one of our own environment


@dataclass(frozen=True)
class Row:
    """One comparison: ours ÷ peer must reach the floor, and should reach the goal."""

    shape: Shape
    ours: System
    peer: System
    floor: float
    goal: float
    unit: str = "rate"  # operations a second; or messages

    @property
    def durability(self) -> str:
        return self.ours.durability

    @property
    def title(self) -> str:
        """Who is compared with whom, ours left out where it is `deferred`."""
        return self.peer.name if self.ours.name == "deferred" else f"{self.ours.name} ÷ {self.peer.name}"

    def __str__(self) -> str:
        return f"{self.durability} {self.title} {self.shape}"


SHAPES: Final = (Shape(1, 1), Shape(50, 1), Shape(4, 100))
CONFIRMS: Final = ("ready", "write", "sync")
Limits = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]

# A peer, and floor and goal for each shape.
PEERS: Final[tuple[tuple[System, Limits], ...]] = (
    (
        System("beanstalkd", "ready", "beanstalkd", servers.beanstalkd(), "beanstalkd"),
        ((0.85, 1), (1.0, 1.2), (7, 12)),
    ),
    (
        System("RSMQ", "ready", "rsmq", servers.redis("--appendonly", "no"), "redis-server"),
        ((1.2, 1.5), (1.7, 2.2), (7, 12)),
    ),
    (
        System("beanstalkd -b -f50", "write", "beanstalkd", servers.beanstalkd("-f50"), "beanstalkd"),
        ((0.9, 1.1), (1.1, 1.3), (7, 12)),
    ),
    (
        System(
            "RSMQ, AOF everysec",
            "write",
            "rsmq",
            servers.redis("--appendonly", "yes", "--appendfsync", "everysec"),
            "redis-server",
        ),
        ((1.0, 1.5), (1.7, 2.4), (7, 12)),
    ),
    (
        System("NATS JetStream file", "write", "nats", servers.nats, "nats-server"),
        ((1.4, 1.8), (1.5, 2.2), (3, 5)),
    ),
    (
        System("RabbitMQ persistent", "write", "amqp", NODE.start, "rabbitmq-server"),
        ((2.5, 4), (2.5, 3.5), (6, 10)),
    ),
    (
        System("beanstalkd -b -f0", "sync", "beanstalkd", servers.beanstalkd("-f0"), "beanstalkd"),
        ((0.55, 0.65), (5, 8), (20, 40)),
    ),
    (
        System(
            "RSMQ, AOF always",
            "sync",
            "rsmq",
            servers.redis("--appendonly", "yes", "--appendfsync", "always"),
            "redis-server",
        ),
        ((1.2, 1.8), (1.7, 2.5), (4, 7)),
    ),
)


AT_LEAST: Final[Limits] = ((1, 1), (1, 1), (1, 1))
# The WebSocket dialects against a bare echo. One connection has no floor: it is told how long both sides wait.
ECHO_LIMITS: Final[Limits] = ((0, 1), (0.8, 1), (0.6, 1))
ECHO_CONFIRMS: Final = ("ready", "write")
# RSMQ without the lookups that every client of it sends, beside what it is: no floor, a goal to look at.
BARE_LIMITS: Final[Limits] = ((0, 1), (0, 1.7), (0, 7))


# RSMQ's own commands, said to penstock and to the Redis that it takes the place of.
FACADE_LIMITS: Final[Limits] = ((0, 1), (1.0, 1.3), (1.0, 1.3))


def facade(rsmq: System) -> System:
    return System("rsmq", rsmq.durability, "rsmq facade", servers.penstock(rsmq.durability, "rsmq"))


def bare(rsmq: System) -> System:
    return replace(rsmq, name=rsmq.name.replace("RSMQ", "RSMQ without lookups"), tongue="rsmq bare")


def through(dialect: str, confirm: str) -> System:
    return System(dialect, confirm, dialect, servers.penstock(confirm, dialect))


def rows() -> Iterator[Row]:
    """Every row, ours measured through `deferred`; then the other dialects."""
    deferred = {confirm: through("deferred", confirm) for confirm in CONFIRMS}
    for peer, limits in PEERS:
        yield from against(deferred[peer.durability], peer, limits)
        if peer.tongue == "rsmq":
            yield from against(deferred[peer.durability], bare(peer), BARE_LIMITS)
        if peer.tongue == "rsmq" and peer.durability == "write":
            yield from against(facade(peer), peer, FACADE_LIMITS)
    for confirm in CONFIRMS:
        yield from against(through("pinpriq", confirm), deferred[confirm], AT_LEAST, "messages")
    for confirm in ECHO_CONFIRMS:
        yield from over_websocket(confirm)


def over_websocket(confirm: str) -> Iterator[Row]:
    """`glovebox` says in every request at which stage it wants its answer."""
    server = servers.penstock(confirm, "glovebox")
    glovebox = System("glovebox", confirm, f"glovebox:{confirm}", server)
    bincode = System("glovebox bincode", confirm, f"bincode:{confirm}", server)
    for ours in (through("etzel", confirm), glovebox):
        peer = System("picows echo", confirm, ours.tongue, servers.echo(ours.name), library="picows")
        yield from against(ours, peer, ECHO_LIMITS)
    yield from against(bincode, glovebox, AT_LEAST)


def against(ours: System, peer: System, limits: Limits, unit: str = "rate") -> Iterator[Row]:
    for shape, (floor, goal) in zip(SHAPES, limits, strict=True):
        yield Row(shape, ours, peer, floor, goal, unit)
