"""What the clients of all dialects have in common: a connection that may break, requests under way, bodies to tell
messages apart, and ids of what was handed out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from penstock.dialects.table import DIALECTS
from tests.engine.audit import Broken
from tests.simulation.judge import Wish
from tests.simulation.laws import Laws, Since
from tests.simulation.lives import Life
from tests.simulation.network import Link, Mark

S = 1_000_000
NUMBERS = {dialect.name: dialect.number for dialect in DIALECTS}
TAILS = (b"", b"text", b"two words", "grün".encode(), b"\xff\0\n", b"x" * 300)
OTHERS = 0.15  # so often it meddles with what may be somebody else's
LATEST = 2
TEXT_TAILS = TAILS[:4] + TAILS[5:]


class World(Protocol):
    """What a client knows of the world."""

    dice: Random
    laws: Laws
    confirm: int
    queues: tuple[bytes, ...]
    bodies: int  # so many have been made
    full: bool  # the server has, or had, no room
    woken_us: int  # the server's time when it last went on after it stood still

    def now_us(self) -> int:
        """The server's time."""
        ...

    def connect(self, client: Client) -> Link: ...
    def decided(self) -> int: ...
    def note(self, who: str, what: object) -> None: ...


@dataclass(eq=False, slots=True)
class Asked:
    """A request under way."""

    kind: str
    since: Since
    queue: bytes
    wish: Wish | None = None
    life: Life | None = None
    rest: dict[str, Any] = field(default_factory=dict)


class Client:
    """One user of one dialect, who comes back after every cut."""

    dialect = ""

    def __init__(self, world: World, name: str) -> None:
        self.number = NUMBERS[self.dialect]
        self.world = world
        self.laws = world.laws
        self.dice = world.dice
        self.name = name
        self.link: Link | None = None
        self.asked: deque[Asked] = deque()
        self.data = b""
        self.held: list[tuple[bytes, Life]] = []  # what was handed out, by its id

    # -- what a dialect adds

    def greet(self) -> None:
        """The first words on a connection."""

    def act(self) -> None:
        """One request, by chance."""
        raise NotImplementedError

    def read(self, mark: Mark) -> bool:
        """One answer out of `data`; False: none is all there."""
        raise NotImplementedError

    def id_of(self, life: Life) -> bytes:
        """What its dialect calls a message, be it handed out or not; empty: it cannot know."""
        return b""

    def waits_for(self) -> list[bytes]:
        """Queues that it waits for a message of, right now."""
        return []

    def owes_answers(self) -> bool:
        """The server has not answered all that it must by now."""
        return bool(self.asked)

    def stuck(self) -> bool:
        """The server may take none of its input for now, for want of room."""
        return False

    # -- the connection

    def step(self) -> None:
        self.meet()
        for _ in range(self.dice.choice((1, 1, 1, 2, 3))):
            self.act()

    def meet(self) -> None:
        if self.link is None:
            self.link = self.world.connect(self)
            self.data = b""
            self.asked.clear()
            lives = self.laws.lives.by_seq
            self.held = [(id, lives[life.seq]) for id, life in self.held if life.seq in lives]
            self.greet()

    def say(self, data: bytes, wish: Wish | None = None) -> None:
        assert self.link is not None
        if wish is not None:
            wish.sent(self.link, self.link.sent + len(data))
        self.world.note(self.name, data)
        self.link.send(data)

    def heard(self, data: bytes, mark: Mark) -> None:
        self.world.note(self.name, (data, mark))
        self.data += data
        while self.data and self.read(mark):
            pass

    def lost(self) -> None:
        self.world.note(self.name, "lost")
        self.link = None
        self.asked.clear()

    def crash(self) -> None:
        """The server is gone, with all that was on its way."""
        self.link = None
        self.asked.clear()

    # -- requests

    def ask(self, kind: str, queue: bytes, data: bytes, **more: Any) -> Asked:
        assert self.link is not None
        wish, life = more.pop("wish", None), more.pop("life", None)
        asked = Asked(kind, self.since(), queue, wish, life, more)
        self.asked.append(asked)
        self.say(data, wish)
        return asked

    def since(self) -> Since:
        return Since(self.world.decided(), self.world.now_us())

    def queue(self) -> bytes:
        return self.dice.choice(self.world.queues)

    def body(self, tails: tuple[bytes, ...] = TAILS) -> bytes:
        self.world.bodies += 1
        return b"%d %b" % (self.world.bodies, self.dice.choice(tails))

    def wish(self, wish: Wish) -> Wish:
        self.laws.wish(wish)
        return wish

    def one_held(self) -> tuple[bytes, Life] | None:
        """Now and then something that was handed out to it, of late or long ago; or whatever others are at just now."""
        if self.dice.random() < OTHERS:
            return self._one_of_others()
        if not self.held or self.dice.random() < 0.5:
            return None
        at = self.dice.randrange(len(self.held))
        return self.held.pop(at) if self.dice.random() < 0.8 else self.held[at]

    def _one_of_others(self) -> tuple[bytes, Life] | None:
        lives = self.laws.lives.latest(LATEST)
        life = self.dice.choice(lives) if lives else None
        id = b"" if life is None else self.id_of(life)
        return (id, life) if life is not None and id else None

    # -- answers

    def next_asked(self, *kinds: str) -> Asked:
        """The request whose turn it is."""
        if not self.asked or self.asked[0].kind not in kinds:
            raise Broken(0, f"{self.name} is answered {kinds} and has asked {[one.kind for one in self.asked]}")
        return self.asked.popleft()

    def refused(self, asked: Asked) -> None:
        """Told that there is no room."""
        limit = self.laws.rule(asked.queue, "max_length")
        if not self.world.full and not limit:
            raise Broken(0, f"{self.name} is told that {asked.queue!r} is full")

    def broken(self, what: object) -> Broken:
        return Broken(0, f"{self.name} is told {what!r}")
