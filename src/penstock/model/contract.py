"""Where dialects and brokers meet: sessions call a Broker's verbs with a token, a Broker answers the Session later.

A verb is answered exactly once, when its outcome is known and as durable as the `stage` it was called with. A session
calls no verb but `cancel` while it is being answered.
Neither side may hold on to the other's insides: a token is a number, an outcome a code, a message and a number.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64, mypyc_attr

from penstock.model.limits import MESSAGE_OVERHEAD, OWED_BYTES_MAX
from penstock.model.message import Lease, Message
from penstock.model.options import Publishing, Reserving, Taking
from penstock.model.policy import Policy
from penstock.model.views import Rank


@mypyc_attr(allow_interpreted_subclasses=True)
class Wire:
    """What a session knows of its connection: that it wants to be asked for output, or wants to end."""

    def wake(self) -> None:
        """The session has output, or has ended: ask it at the end of this tick."""
        raise NotImplementedError

    def fail(self, error: Exception) -> None:
        """The session has failed, by a defect of its own: end it."""
        raise NotImplementedError


class NoWire(Wire):
    """A session without a connection: not yet, or no longer."""

    def wake(self) -> None:
        return

    def fail(self, error: Exception) -> None:
        raise error


NO_WIRE: Final = NoWire()


@mypyc_attr(allow_interpreted_subclasses=True)
class Session:
    """One client, in one dialect: bytes in, verbs out; outcomes in, bytes out. It never touches a socket."""

    dialect: i64
    client_id: i64  # who it is, where the dialect has names for clients; 0: nobody
    durable: bool  # it goes on being told when its client is gone, and keeps it for whoever comes under its name
    owed: i64  # bytes of bodies in answers and pushes under way: the broker adds, the session takes away
    wire: Wire  # set by the connection
    prompt: bool  # its words leave only after the tick's commit: it is told at once what that commit will cover
    held: bool  # input is held back: `resume` goes on with it

    def __init__(self, dialect: i64) -> None:
        self.dialect = dialect
        self.client_id = 0
        self.durable = False
        self.owed = 0
        self.held = False
        self.wire = NO_WIRE
        self.prompt = False

    # -- the connection's side

    def received(self, data: bytes) -> None:
        """Bytes arrived, cut anywhere."""
        raise NotImplementedError

    def enough(self) -> bool:
        """So much is under way that further requests are held back until it has gone out."""
        return self.owed > OWED_BYTES_MAX

    def resume(self) -> None:
        """It is no longer enough, and the client has read: go on with input that was held back."""
        raise NotImplementedError

    def beat(self, now_us: i64) -> None:
        """Twice a second while input is held back."""
        return

    def eof(self) -> None:
        """No more input will come; what is asked is still answered."""
        raise NotImplementedError

    def lost(self) -> None:
        """The connection is gone: nothing more can be said."""
        raise NotImplementedError

    def output(self) -> bytes:
        """What to send now; empty when there is nothing."""
        raise NotImplementedError

    def wants_close(self) -> bool:
        """True once the connection should end after `output` has been sent."""
        raise NotImplementedError

    def parting(self) -> bytes:
        """What to send last where it is the server that ends the connection."""
        return b""

    # -- the broker's side

    def answered(self, token: i64, code: i64, message: Message | None, number: i64) -> None:
        """The outcome of one call. `number` was snapshotted when the call took effect."""
        raise NotImplementedError

    def answered_with(self, token: i64, code: i64, value: object) -> None:
        """The outcome of a call that gives a list or a view."""
        raise NotImplementedError

    def told(self, stage: i64, label: int) -> None:
        """A notice this client asked for when it published."""
        raise NotImplementedError

    def inherit(self, old: Session) -> None:
        """It bears the name of `old`, a durable session whose client is gone: what that one keeps is its own now."""
        raise NotImplementedError

    def dropped(self) -> int:
        """How much of what was to be kept for its client had no room."""
        return 0

    def pushed(self, queue: bytes, messages: list[Message]) -> None:
        """A credit was served: messages taken for this subscriber."""
        raise NotImplementedError

    def woken(self, token: i64) -> None:
        """The one-shot wake-up asked for with `token`."""
        raise NotImplementedError

    def heard(self, queue: bytes, length: i64) -> None:
        """A message was published to a queue it listens to, which held so many live ones then."""
        raise NotImplementedError


def owed_for(value: object) -> i64:
    """What a list of messages adds to `owed`: an empty body counts too. Whatever else is answered adds nothing."""
    owed: i64 = 0
    if isinstance(value, list):
        for one in value:
            if isinstance(one, Lease):
                owed += len(one.message.body) + MESSAGE_OVERHEAD
            elif isinstance(one, Message):
                owed += len(one.body) + MESSAGE_OVERHEAD
    return owed


@mypyc_attr(allow_interpreted_subclasses=True)
class Out:
    """Where an engine puts what is to be said; it is said when durable enough."""

    def answer(self, session: Session, token: i64, stage: i64, code: i64, message: Message | None, number: i64) -> None:
        raise NotImplementedError

    def answer_with(self, session: Session, token: i64, stage: i64, code: i64, value: object) -> None:
        raise NotImplementedError

    def push(self, session: Session, stage: i64, queue: bytes, messages: list[Message]) -> None:
        raise NotImplementedError

    def wake(self, session: Session, token: i64) -> None:
        raise NotImplementedError

    def announce(self, session: Session, queue: bytes, length: i64) -> None:
        raise NotImplementedError

    def notice(self, client_id: int, stage: i64, label: int, after: i64) -> None:
        """`after`: the stage of durability before which it must not be said."""
        raise NotImplementedError

    def is_present(self, client_id: int) -> bool:
        """A session bears this name now."""
        raise NotImplementedError

    def enter(self, session: Session) -> None:
        """It bears its name from now on, and is told what is for that name."""
        raise NotImplementedError

    def leave(self, session: Session) -> None:
        """Its client is gone."""
        raise NotImplementedError


# The verbs a batch may hold.
PUBLISH: Final = 1
FINISH: Final = 2
RELEASE: Final = 3
DELETE: Final = 4
EXTEND: Final = 5
MOVE: Final = 6  # the lease ends, or it is due, at `due_us`; a lease that ends in the past is released, without failure
DECLARE: Final = 7
SET: Final = 8
REMOVE: Final = 9
CLEAR: Final = 10  # deletes every live message; the queue stays
UNCHANGED: Final = 11  # refuses the batch unless the queue has had exactly `seq` changes; without a queue: none
# Those that only look: what they saw, at their turn, is in `seen`.
GLANCE: Final = 12  # a Glance, be the queue there or not
FIND: Final = 13  # a MessageView, or None
COUNT: Final = 14  # the outcome's number: how many can be seen from `due_us` to `until_us`
LIST: Final = 15  # MessageViews of those, by when they can be seen, as many as `limit`
NAMES: Final = 16  # of all queues, with their lengths


class Call:
    """One verb inside a batch, with its arguments."""

    __slots__ = (
        "body",
        "delay_us",
        "due_us",
        "failed",
        "foreign_id",
        "holder",
        "limit",
        "needed",
        "options",
        "policy",
        "queue",
        "rule",
        "seen",
        "seq",
        "until_us",
        "verb",
    )

    def __init__(self, verb: int, queue: bytes) -> None:
        self.verb: int = verb
        self.queue: bytes = queue
        self.body: bytes = b""
        self.delay_us: int = -1  # of EXTEND: how long the lease lasts from now
        self.options: Publishing | None = None
        self.seq: int = 0
        self.rule: int = 0
        self.holder: int = 0
        self.failed: bool = False
        self.needed: bool = False  # a message that is not there, or not as the rule wants it, refuses the whole batch
        self.foreign_id: bytes = b""  # names the message where `seq` is none of the queue's
        self.due_us: int = -1  # of PUBLISH: when it is due, instead of the delay
        self.until_us: int = 0
        self.limit: int = 0
        self.policy: Policy | None = None
        self.seen: object = None


@mypyc_attr(allow_interpreted_subclasses=True)
class Broker:
    """The verbs with their promises. Durations of -1 are unsaid: message, queue policy, config and dialect decide."""

    # -- clients with names

    def meet(self, session: Session, token: i64, number: i64, durable: bool) -> None:
        """Names the client, by `number` if that was given out once and nobody bears it now, else by a new one.

        Sets `client_id` and `durable` at once, and answers OK with the number. What was kept for that name is told.
        """
        raise NotImplementedError

    # -- messages

    def publish(
        self, session: Session, token: i64, queue: bytes, body: bytes, delay_us: i64, options: Publishing, stage: i64
    ) -> None:
        """Answers OK or DUPLICATE with the message's number; NO_QUEUE, FULL, TOO_LARGE, BAD_NAME, BAD_OPTION.

        Where its mark has come as far as its row, or farther: ALREADY, with the row that the mark has come to.
        """
        raise NotImplementedError

    def reserve(self, session: Session, token: i64, queue: bytes, options: Reserving, stage: i64) -> None:
        """Answers OK with the message and its deliveries; EMPTY, NO_QUEUE. With `max` above 0: a list of Leases."""
        raise NotImplementedError

    def take(self, session: Session, token: i64, queue: bytes, options: Taking, stage: i64) -> None:
        """Answers OK with the message and its deliveries; EMPTY, NO_QUEUE. With `mates`: a list."""
        raise NotImplementedError

    def finish(self, session: Session, token: i64, queue: bytes, seq: i64, rule: i64, holder: i64, stage: i64) -> None:
        """Answers OK or NO_MESSAGE, with the number; with 0 where there is not even the queue.

        With ANY_LIVE both mean that it is gone, and are told at `stage`.
        """
        raise NotImplementedError

    def release(
        self,
        session: Session,
        token: i64,
        queue: bytes,
        seq: i64,
        delay_us: i64,
        failed: bool,
        rule: i64,
        holder: i64,
        stage: i64,
    ) -> None:
        """Ends a lease; answers OK or NO_MESSAGE, with the number."""
        raise NotImplementedError

    def extend(
        self, session: Session, token: i64, queue: bytes, seq: i64, lease_us: i64, rule: i64, holder: i64, stage: i64
    ) -> None:
        """Moves the end of a lease (or, with ANY_LIVE, the due time of a waiting message) to now + lease_us."""
        raise NotImplementedError

    def delete(self, session: Session, token: i64, queue: bytes, seq: i64, stage: i64) -> None:
        """Ends a live message that nobody worked on. Answers OK or NO_MESSAGE."""
        raise NotImplementedError

    def batch(self, session: Session, token: i64, calls: list[Call], stage: i64) -> None:
        """Several verbs, all or none; answers with a list of (code, number), or with the code that refused them all.

        A publish under the foreign id of a live message with the same body moves that to its due time, and is a
        DUPLICATE; with another body it refuses the batch.
        """
        raise NotImplementedError

    # -- waiting

    def subscribe(self, session: Session, queue: bytes) -> bool:
        """Messages of this queue may be pushed for credits. False: too many subscriptions."""
        raise NotImplementedError

    def unsubscribe(self, session: Session, queue: bytes) -> None:
        raise NotImplementedError

    def credit(self, session: Session, stage: i64) -> bool:
        """One more push is welcome. False: too many credits."""
        raise NotImplementedError

    def wait(self, session: Session, token: i64, queue: bytes) -> None:
        """One wake-up when a message of this queue is ready: at once if one is. Asking again is the same wait."""
        raise NotImplementedError

    def listen(self, session: Session, queue: bytes) -> bool:
        """It hears of every publish to this queue, also before the queue is there. False: too many of these."""
        raise NotImplementedError

    def unlisten(self, session: Session, queue: bytes) -> None:
        raise NotImplementedError

    def cancel(self, session: Session) -> None:
        """The client is gone: its waiting and subscriptions end, unanswered; its leases do not."""
        raise NotImplementedError

    # -- queues

    def declare(self, session: Session, token: i64, queue: bytes, policy: Policy, stage: i64) -> None:
        """Answers OK, QUEUE_EXISTS, BAD_NAME or BAD_POLICY."""
        raise NotImplementedError

    def set(
        self, session: Session, token: i64, queue: bytes, policy: Policy, stage: i64, unsaid: tuple[str, ...] = ()
    ) -> None:
        """Overrides the fields that are said, forgets those named `unsaid`. Answers OK, NO_QUEUE or BAD_POLICY."""
        raise NotImplementedError

    def remove(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        """Deletes every live message, then the queue. Answers OK with their number, or NO_QUEUE."""
        raise NotImplementedError

    def purge(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        """Deletes every message that is not leased. Answers OK with their number, or NO_QUEUE."""
        raise NotImplementedError

    def pause(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        """Stops handing out, nothing else. Answers OK or NO_QUEUE."""
        raise NotImplementedError

    def resume(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        """Hands out again, waiters first. Answers OK or NO_QUEUE."""
        raise NotImplementedError

    # -- looking; these change nothing and wait for nothing

    def peek(self, session: Session, token: i64, queue: bytes, limit: int, after: Rank | None = None) -> None:
        """Answers OK with MessageViews of what could be taken, in rank, from the first or `after` one; or NO_QUEUE."""
        raise NotImplementedError

    def show_message(self, session: Session, token: i64, seq: i64) -> None:
        """Answers OK with a MessageView, or NO_MESSAGE."""
        raise NotImplementedError

    def show_queue(self, session: Session, token: i64, queue: bytes) -> None:
        """Answers OK with a QueueView, or NO_QUEUE."""
        raise NotImplementedError

    def list_queues(self, session: Session, token: i64) -> None:
        """Answers OK with QueueViews, by name."""
        raise NotImplementedError

    def stats(self, session: Session, token: i64) -> None:
        """Answers OK with a StatsView."""
        raise NotImplementedError
