"""The dialect `rsmq`: RESP, as from a Redis that holds RSMQ's keys. docs/dialects/rsmq.md specifies it.

Here is what a connection can be asked of itself: who it is, which protocol, what it listens to, that it ends.
"""

from __future__ import annotations

import hmac
from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock import __version__
from penstock.codecs import resp
from penstock.dialects import rsmq_commands as commands
from penstock.dialects.context import Context
from penstock.dialects.rsmq_commands import Command
from penstock.dialects.rsmq_plan import NUMBER, SYNTAX
from penstock.dialects.rsmq_planning import OK, PONG, PlanningSession
from penstock.dialects.settings import ANY_TEXT, TEXT, Setting
from penstock.model.limits import SECOND_US
from penstock.model.policy import Policy

__all__ = ["DEFAULTS", "NUMBER", "SETTINGS", "RsmqSession"]

SETTINGS: Final[tuple[Setting, ...]] = (
    Setting("namespace", TEXT, "rsmq", "What the names of all keys begin with, before a colon."),
    Setting("password", ANY_TEXT, "", "What clients must AUTH with before anything else; empty: nothing."),
)

DEFAULTS: Final[Policy] = Policy(lease_us=30 * int(SECOND_US), delay_us=0, max_body=65_536)

REDIS_VERSION: Final = b"7.2.0"  # what clients may expect of the commands that are here

NO_AUTH: Final = b"NOAUTH Authentication required."
WRONG_PASSWORD: Final = b"WRONGPASS invalid username-password pair or user is disabled."
NO_PASSWORD: Final = (
    b"ERR AUTH <password> called without any password configured for the default user. "
    b"Are you sure your configuration is correct?"
)
NO_CHANNEL: Final = b"ERR the only channels here are <namespace>:rt:<queue>"
TOO_MANY_CHANNELS: Final = b"ERR too many channels"

# A set of plain numbers: compiled, a tuple of native ones cannot be told from one that was never made.
_FOR_STRANGERS: Final = frozenset(map(int, (commands.AUTH, commands.HELLO, commands.QUIT, commands.RESET)))
_WHILE_SUBSCRIBED: Final = frozenset(
    map(int, (commands.SUBSCRIBE, commands.UNSUBSCRIBE, commands.PING, commands.QUIT, commands.RESET))
)
_CLIENT_OK: Final = (b"SETINFO", b"NO-EVICT", b"NO-TOUCH")
_NAME_MAX: Final = 1_024


class RsmqSession(PlanningSession):
    """One connection."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._password: bytes = str(context.options["password"]).encode()
        self._channels: dict[bytes, None] = {}  # the queues whose publishes it hears of
        self._name: bytes = b""
        self.reader.stranger = self._password != b""

    # -- the connection's side

    def end(self) -> None:
        if not self.ended:
            for queue in self._channels:
                self.context.subscriptions.leave(queue, True)
            self._channels = {}
        super().end()

    def admitted(self, command: Command | None) -> bool:
        own: i64 = -1 if command is None else command.own
        if self.reader.stranger and own not in _FOR_STRANGERS:
            self.refuse(NO_AUTH)
            return False
        if self._channels and not self.speech.modern and own not in _WHILE_SUBSCRIBED:
            self.refuse(b"ERR only SUBSCRIBE, UNSUBSCRIBE, PING, QUIT and RESET are allowed while subscribed")
            return False
        return True

    # -- commands

    def own(self, command: Command, words: list[bytes]) -> None:
        own = command.own
        if own == commands.PUBLISH:
            self._publish(words[1])
        elif own == commands.PING:
            self._ping(words)
        elif own == commands.SUBSCRIBE:
            self._subscribe(words)
        elif own == commands.UNSUBSCRIBE:
            self._unsubscribe(words)
        elif own == commands.HELLO:
            self._hello(words)
        elif own == commands.AUTH:
            self._auth(words)
        elif own == commands.CLIENT:
            self._client(words)
        elif own == commands.COMMAND:
            self._describe(words)
        elif own == commands.INFO:
            self._bulk(self._info())
        elif own == commands.QUIT:
            self.tell(OK)
            self.close()
        else:
            self._reset()

    def _bulk(self, word: bytes) -> None:
        resp.write_bulk(self.answer(self.next_turn()), word)

    def _ping(self, words: list[bytes]) -> None:
        if self._channels and not self.speech.modern:
            out = self.answer(self.next_turn())
            out.write(b"*2\r\n$4\r\npong\r\n")
            resp.write_bulk(out, words[1] if len(words) > 1 else b"")
        elif len(words) > 1:
            self._bulk(words[1])
        else:
            self.tell(PONG)

    def _reset(self) -> None:
        self.give_up()
        for queue in list(self._channels):
            self._leave(queue)
        self.speech.modern = False
        self._name = b""
        self.reader.stranger = self._password != b""
        self.tell(b"+RESET\r\n")

    # -- who it is

    def _auth(self, words: list[bytes]) -> None:
        user = words[1] if len(words) == 3 else b"default"
        if not self._password and len(words) == 2:
            self.refuse(NO_PASSWORD)
        elif self._knows(user, words[-1]):
            self.tell(OK)
        else:
            self.refuse(WRONG_PASSWORD)

    def _knows(self, user: bytes, password: bytes) -> bool:
        """Compared in a time that tells nothing of the password. Without one, anything will do."""
        known = user == b"default" and (not self._password or hmac.compare_digest(password, self._password))
        if known:
            self.reader.stranger = False
        return known

    def _hello(self, words: list[bytes]) -> None:
        modern = self.speech.modern
        name = self._name
        at = 2
        if len(words) > 1:
            if words[1] not in (b"2", b"3"):
                self.refuse(b"NOPROTO unsupported protocol version")
                return
            modern = words[1] == b"3"
        while at < len(words):
            option = words[at].upper()
            if option == b"AUTH" and len(words) > at + 2:
                if not self._knows(words[at + 1], words[at + 2]):
                    self.refuse(WRONG_PASSWORD)
                    return
                at += 3
            elif option == b"SETNAME" and len(words) > at + 1:
                name = words[at + 1][:_NAME_MAX]
                at += 2
            else:
                self.refuse(SYNTAX)
                return
        if self.reader.stranger:
            self.refuse(NO_AUTH)
            return
        self.speech.modern = modern
        self._name = name
        self._greet(self.answer(self.next_turn()))

    def _greet(self, out: BytesWriter) -> None:
        self.speech.pairs(out, 7)
        for field, value in ((b"server", b"redis"), (b"version", REDIS_VERSION)):
            resp.write_bulk(out, field)
            resp.write_bulk(out, value)
        resp.write_bulk(out, b"proto")
        resp.write_number(out, 3 if self.speech.modern else 2)
        resp.write_bulk(out, b"id")
        resp.write_number(out, self._number())
        for field, value in ((b"mode", b"standalone"), (b"role", b"master")):
            resp.write_bulk(out, field)
            resp.write_bulk(out, value)
        resp.write_bulk(out, b"modules")
        resp.write_array(out, 0)

    def _number(self) -> i64:
        """Another one for every connection that is there now."""
        return id(self) >> 4 & 0x7FFF_FFFF_FFFF

    def _client(self, words: list[bytes]) -> None:
        what = words[1].upper()
        if what == b"SETNAME" and len(words) == 3:
            self._name = words[2][:_NAME_MAX]
            self.tell(OK)
        elif what == b"GETNAME":
            if self._name:
                self._bulk(self._name)
            else:
                self.speech.null(self.answer(self.next_turn()))
        elif what == b"ID":
            resp.write_number(self.answer(self.next_turn()), self._number())
        elif what in _CLIENT_OK:
            self.tell(OK)
        elif what in (b"INFO", b"LIST"):
            protocol = 3 if self.speech.modern else 2
            self._bulk(b"id=%d name=%s db=0 resp=%d\n" % (self._number(), self._name, protocol))
        else:
            self.refuse(b"ERR unknown subcommand '%s'. Try CLIENT HELP." % words[1][:128])

    def _describe(self, words: list[bytes]) -> None:
        """Nothing is told of commands but how many there are: who asks for more does without."""
        out = self.answer(self.next_turn())
        what = words[1].upper() if len(words) > 1 else b""
        if what == b"COUNT":
            resp.write_number(out, len(commands.NAMES))
        elif what == b"DOCS":
            self.speech.pairs(out, 0)
        else:
            resp.write_array(out, 0)

    def _info(self) -> bytes:
        resident = self.context.resident_bytes()
        lines = (
            b"# Server",
            b"redis_version:" + REDIS_VERSION,
            b"redis_mode:standalone",
            b"penstock_version:" + __version__.encode(),
            b"# Clients",
            b"connected_clients:%d" % self.context.connections(),
            b"# Memory",
            b"used_memory:%d" % resident,
            b"used_memory_rss:%d" % resident,
            b"# Persistence",
            b"loading:0",
            b"# Replication",
            b"role:master",
            b"# Cluster",
            b"cluster_enabled:0",
        )
        return b"\r\n".join(lines) + b"\r\n"

    # -- realtime

    def _publish(self, channel: bytes) -> None:
        """The server tells of every publish itself: this says only how many hear of it."""
        queue = self.speech.keys.channel_queue(channel)
        if queue is None:
            self.refuse(NO_CHANNEL)
        else:
            resp.write_number(self.answer(self.next_turn()), self.context.subscriptions.count(queue))

    def _subscribe(self, words: list[bytes]) -> None:
        queues = [self.speech.keys.channel_queue(channel) for channel in words[1:]]
        if None in queues:
            self.refuse(NO_CHANNEL)
            return
        out = self.answer(self.next_turn())
        for queue in queues:
            if queue is None or not self._join(queue):
                resp.write_error(out, TOO_MANY_CHANNELS)
            else:
                self._write_event(out, b"subscribe", queue)
                resp.write_number(out, len(self._channels))

    def _join(self, queue: bytes) -> bool:
        """Whoever sends no more may be gone: it is not told."""
        if self.ended or queue in self._channels:
            return True
        subscriptions = self.context.subscriptions
        if not subscriptions.keep(queue):
            return False
        if not self.context.broker.listen(self, queue):
            subscriptions.leave(queue, False)
            return False
        subscriptions.add(queue)
        self._channels[queue] = None
        return True

    def _unsubscribe(self, words: list[bytes]) -> None:
        keys = self.speech.keys
        channels = words[1:] or [keys.channel(queue) for queue in self._channels]
        out = self.answer(self.next_turn())
        for channel in channels:
            queue = keys.channel_queue(channel)
            if queue is not None and queue in self._channels:
                self._leave(queue)
            self._write_head(out, b"unsubscribe")
            resp.write_bulk(out, channel)
            resp.write_number(out, len(self._channels))
        if not channels:
            self._write_head(out, b"unsubscribe")
            self.speech.null(out)
            resp.write_number(out, 0)

    def _leave(self, queue: bytes) -> None:
        del self._channels[queue]
        self.context.broker.unlisten(self, queue)
        self.context.subscriptions.leave(queue, True)

    def heard(self, queue: bytes, length: i64) -> None:
        if queue in self._channels:
            out = BytesWriter()
            self._write_event(out, b"message", queue)
            resp.write_decimal(out, length)
            self.put(out.getvalue())

    def _write_head(self, out: BytesWriter, event: bytes) -> None:
        out.write(b">3\r\n" if self.speech.modern else b"*3\r\n")
        resp.write_bulk(out, event)

    def _write_event(self, out: BytesWriter, event: bytes, queue: bytes) -> None:
        self._write_head(out, event)
        resp.write_bulk(out, self.speech.keys.channel(queue))
