"""The sessions of `rsmq` as far as queues go: bytes to commands, commands to plans, scripts to verbs, and what became
of them back to bytes. What is about the connection itself, the session of the dialect adds.

Law: a MULTI is one batch, and a command that cannot be changes nothing, nor does the MULTI it stands in.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64, mypyc_attr

from penstock.codecs import resp
from penstock.codecs.resp import Reader
from penstock.codecs.rsmq_ids import RsmqIds
from penstock.codecs.rsmq_keys import (
    NO_SCRIPT,
    POP,
    RECEIVE,
    ZSET,
    Keys,
    digits,
    due_us,
    load,
    script,
    script_of,
    sha1,
)
from penstock.dialects import rsmq_commands as commands
from penstock.dialects.context import Context
from penstock.dialects.gathering import GatheringSession
from penstock.dialects.rsmq_commands import Command, command_of
from penstock.dialects.rsmq_plan import NUMBER, REFUSALS, Done, Plan, Refused, Speech, Words, message_call
from penstock.dialects.rsmq_setting import BAD_KEY
from penstock.model import codes, stages
from penstock.model.contract import GLANCE, MOVE, UNCHANGED, Call
from penstock.model.limits import COMMAND_MAX, COMMAND_WORDS_MAX, LEASE_MAX_US, MILLISECOND_US
from penstock.model.message import Message
from penstock.model.options import Reserving, Taking
from penstock.model.views import Glance

OK: Final = b"+OK\r\n"
PONG: Final = b"+PONG\r\n"
QUEUED: Final = b"+QUEUED\r\n"
EMPTY: Final = b"*0\r\n"

# A token: the request's turn, and how its outcome is said.
_PLANNED: Final[i64] = 0
_RECEIVED: Final[i64] = 1
_POPPED: Final[i64] = 2
_HOW_BITS: Final[i64] = 2
_HOW_MASK: Final[i64] = 3

_TAKING: Final = Taking()
_KEYS_OF: Final = {RECEIVE: 3, POP: 2}  # the third script has three too

NO_LUA: Final = b"ERR no Lua runs here: only RSMQ's three scripts do, as their clients write them"
NO_SUCH_SCRIPT: Final = b"NOSCRIPT No matching script. Please use EVAL."
BAD_KEYS: Final = b"ERR the script takes the keys that RSMQ's clients give it"


@mypyc_attr(allow_interpreted_subclasses=True)
class PlanningSession(GatheringSession):
    """What the dialect adds: `own`, and who may ask."""

    def __init__(self, context: Context) -> None:
        super().__init__(NUMBER, context)
        namespace = str(context.options["namespace"]).encode()
        self.speech: Speech = Speech(Keys(namespace), RsmqIds(context.ids))
        self.reader: Reader = Reader()
        self._plans: dict[int, Plan] = {}  # by turn: what the broker was asked
        self._said: dict[int, bytes] = {}  # by turn: the time that a pop named
        self._multi: Plan | None = None
        self._added: Call | None = None  # the score of a message that is none yet, said by the last command
        self._watched: dict[bytes, int] = {}  # by queue: its changes when it was watched
        self.closing: bool = False  # nothing more is read
        self._awaited: i64 = 0  # plans under way that what comes next depends on
        self._reserving: Reserving = Reserving(lease_us=0)

    # -- the connection's side

    def enough(self) -> bool:
        return self._awaited != 0 or super().enough()

    def close(self) -> None:
        self.closing = True
        super().close()

    def request(self, data: bytes, at: i64) -> i64:
        """The reader keeps what it has read of a command that is not all there, and goes on behind it."""
        reader = self.reader
        end = reader.read(data, at)
        if reader.broken:
            self.refuse(b"ERR Protocol error: " + reader.broken)
            self.close()
        elif not reader.whole:
            self.needed = reader.needed
        elif reader.words:
            self._command(reader.words)
        return len(data) - at if self.closing else end - at

    # -- commands

    def _command(self, words: list[bytes]) -> None:
        command = command_of(words[0])
        added, self._added = self._added, None
        if not self.admitted(command):
            return
        if command is None:
            self.spoil(b"ERR unknown command '%s'" % words[0][:128])
            return
        count: i64 = len(words)
        if count < command.fewest or (command.most >= 0 and count > command.most):
            self.spoil(b"ERR wrong number of arguments for '%s' command" % command.name)
        elif command.own == commands.PLANNED:
            self._planned(command, words, added)
        elif command.own == commands.MULTI:
            self._begin()
        elif command.own == commands.EXEC:
            self._execute()
        elif command.own == commands.EVALSHA:
            self._script(script(words[1]), words)
        else:
            self._own(command, words)

    def admitted(self, command: Command | None) -> bool:
        """It may be asked now; if not, that was said."""
        raise NotImplementedError

    def own(self, command: Command, words: list[bytes]) -> None:
        """A command about the connection, outside of a MULTI."""
        raise NotImplementedError

    def tell(self, words: bytes) -> None:
        """The answer to the command that is being read."""
        self.answer(self.next_turn()).write(words)

    def refuse(self, words: bytes) -> None:
        resp.write_error(self.answer(self.next_turn()), words)

    def spoil(self, words: bytes) -> None:
        """A refusal that no MULTI survives."""
        if self._multi is not None:
            self._multi.spoilt = True
        self.refuse(words)

    def _own(self, command: Command, words: list[bytes]) -> None:
        own = command.own
        if own == commands.DISCARD:
            self._discard()
        elif own == commands.EVAL:
            self._script(script_of(words[1]), words)
        elif self._multi is not None and own == commands.PING:
            self._multi.steps.append(Words(PONG) if len(words) == 1 else commands.echo(self.speech, self._multi, words))
            self.tell(QUEUED)
        elif self._multi is not None:
            self.spoil(b"ERR %s is not possible inside a MULTI" % command.name.upper())
        elif own == commands.SCRIPT:
            self._manage_scripts(words)
        elif own == commands.WATCH:
            self._watch(words)
        elif own == commands.UNWATCH:
            self._watched.clear()
            self.tell(OK)
        else:
            self.own(command, words)

    # -- plans

    def _planned(self, command: Command, words: list[bytes], added: Call | None) -> None:
        plan = self._multi
        if plan is None:
            plan = Plan(False)
            if added is not None and command.name == b"hset":
                self._take_up(plan, added, words)
        elif not self._fits(plan, words):
            return
        make = command.make
        assert make is not None
        try:
            plan.steps.append(make(self.speech, plan, words))
        except Refused as refused:
            self.spoil(refused.words)
            return
        if plan.is_multi:
            self.tell(QUEUED)
            return
        if command.name == b"zadd" and len(words) == 4:
            self._added = message_call(MOVE, plan.calls[0].queue, words[3], self.speech)
            self._added.due_us = plan.calls[0].due_us
        self._ask(plan)

    def _fits(self, plan: Plan, words: list[bytes]) -> bool:
        """A MULTI is bounded as one command is."""
        for word in words:
            plan.bytes += len(word)
        if plan.bytes <= COMMAND_MAX and len(plan.calls) + len(words) <= COMMAND_WORDS_MAX:
            return True
        self.spoil(b"ERR the MULTI is too large")
        return False

    def _take_up(self, plan: Plan, added: Call, words: list[bytes]) -> None:
        """The body of a message whose score the last command said: both are one."""
        if words[2] == added.foreign_id and self.speech.keys.read(words[1]).queue == added.queue:
            plan.change(added)

    def _ask(self, plan: Plan) -> None:
        turn = self.next_turn()
        if not plan.calls:
            plan.say(self.answer(turn), self.speech)
            return
        self._plans[turn] = plan
        plan.modern = self.speech.modern
        if plan.awaited:
            self._awaited += 1
        stage = self.context.confirm if plan.changes else stages.READY
        self.context.broker.batch(self, turn << _HOW_BITS | _PLANNED, plan.calls, stage)

    def _begin(self) -> None:
        if self._multi is not None:
            self.refuse(b"ERR MULTI calls can not be nested")
            return
        self._multi = Plan(True)
        self.tell(OK)

    def _execute(self) -> None:
        plan, self._multi = self._multi, None
        watched, self._watched = self._watched, {}
        if plan is None:
            self.refuse(b"ERR EXEC without MULTI")
        elif plan.spoilt:
            self.refuse(b"EXECABORT Transaction discarded because of previous errors.")
        else:
            for queue, changes in watched.items():
                call = Call(UNCHANGED, queue)
                call.seq = changes
                plan.look(call)
            self._ask(plan)

    def _discard(self) -> None:
        if self._multi is None:
            self.refuse(b"ERR DISCARD without MULTI")
            return
        self.give_up()
        self.tell(OK)

    def give_up(self) -> None:
        self._multi = None
        self._watched.clear()

    def _watch(self, words: list[bytes]) -> None:
        plan = Plan(False)
        plan.awaited = True
        plan.steps.append(Words(OK))
        for word in words[1:]:
            key = self.speech.keys.read(word)
            if key.queue:
                plan.glance(key.queue)
                plan.watches = True
        self._ask(plan)

    # -- scripts

    def _manage_scripts(self, words: list[bytes]) -> None:
        what = words[1].upper()
        if what == b"LOAD" and len(words) == 3:
            if load(words[2]) == NO_SCRIPT:
                self.refuse(NO_LUA)
            else:
                resp.write_bulk(self.answer(self.next_turn()), sha1(words[2]))
        elif what == b"EXISTS":
            out = self.answer(self.next_turn())
            resp.write_array(out, len(words) - 2)
            for name in words[2:]:
                resp.write_number(out, 0 if script(name) == NO_SCRIPT else 1)
        elif what == b"FLUSH":
            self.tell(OK)
        else:
            self.refuse(b"ERR unknown subcommand '%s' of SCRIPT" % words[1][:128])

    def _script(self, kind: i64, words: list[bytes]) -> None:
        if kind == NO_SCRIPT:
            self.spoil(NO_LUA if words[0].upper() == b"EVAL" else NO_SUCH_SCRIPT)
            return
        keys: i64 = _KEYS_OF.get(kind, 3)
        key = self.speech.keys.read(words[3]) if len(words) == keys + 3 else None
        if key is None or digits(words[2]) != keys:
            self.spoil(BAD_KEYS)
        elif key.kind != ZSET:
            self.spoil(BAD_KEY)
        elif kind not in (RECEIVE, POP):
            self._visibility(key.queue, words)
        elif self._multi is not None:
            self.spoil(b"ERR a receive is not possible inside a MULTI")
        elif kind == POP:
            turn = self.next_turn()
            self._said[turn] = words[4]
            self.context.broker.take(self, turn << _HOW_BITS | _POPPED, key.queue, _TAKING, self.context.confirm)
        else:
            self._receive(key.queue, words)

    def _receive(self, queue: bytes, words: list[bytes]) -> None:
        """The server's clock decides: of the times that are named, only how far they are apart counts."""
        now_us = due_us(words[4])
        until_us = due_us(words[5])
        if now_us < 0 or until_us < 0:
            self.refuse(b"ERR value is not a valid float")
            return
        lease_us: i64 = min(max(until_us - now_us, 0), LEASE_MAX_US)
        options = self._reserving
        if options.lease_us != lease_us:
            options = self._reserving = Reserving(lease_us=lease_us)
        token = self.next_turn() << _HOW_BITS | _RECEIVED
        self.context.broker.reserve(self, token, queue, options, self.context.confirm)

    def _visibility(self, queue: bytes, words: list[bytes]) -> None:
        plan = self._multi or Plan(False)
        due = due_us(words[5])
        if due < 0:
            self.spoil(b"ERR value is not a valid float")
            return
        call = message_call(MOVE, queue, words[4], self.speech)
        call.due_us = int(due)
        plan.steps.append(Done(plan.change(call)))
        if plan.is_multi:
            self.tell(QUEUED)
        else:
            self._ask(plan)

    # -- answers

    def answered(self, token: i64, code: i64, message: Message | None, number: i64) -> None:
        turn = token >> _HOW_BITS
        out = self.answer(turn)
        said = self._said.pop(turn) if token & _HOW_MASK == _POPPED else b""
        if message is not None:
            self.owed -= len(message.body)
            self._write_message(out, message, number, said)
        elif code in (codes.EMPTY, codes.NO_QUEUE):
            out.write(EMPTY)
        else:
            resp.write_error(out, REFUSALS[code])

    def _write_message(self, out: BytesWriter, message: Message, deliveries: i64, said: bytes) -> None:
        """One that is popped before it was ever received has been received when its taker says."""
        speech = self.speech
        out.write(b"*4\r\n")
        resp.write_bulk(out, speech.id(message.order, message.published_us, message.origin, i64(message.dialect)))
        resp.write_bulk(out, message.body)
        resp.write_number(out, deliveries)
        if message.first_leased_us == 0:
            resp.write_bulk(out, said)
        else:
            resp.write_decimal(out, message.first_leased_us // MILLISECOND_US)

    def answered_with(self, token: i64, code: i64, value: object) -> None:
        turn = token >> _HOW_BITS
        plan = self._plans.pop(turn)
        out = self.answer(turn)
        if plan.awaited:
            self._awaited -= 1
        if plan.watches:
            self._watch_begins(plan)
        speech = self.speech
        modern, speech.modern = speech.modern, plan.modern
        if code == codes.CHANGED:
            speech.null_array(out)
        elif code != codes.OK:
            resp.write_error(out, REFUSALS[code])
        else:
            assert isinstance(value, list)
            plan.outcomes = value
            plan.say(out, speech)
        speech.modern = modern

    def _watch_begins(self, plan: Plan) -> None:
        for call in plan.calls:
            seen = call.seen
            if call.verb == GLANCE and isinstance(seen, Glance):
                self._watched.setdefault(call.queue, int(seen.changes))
