"""The model's lives: how messages come, come back and end, one by one and in batches."""

from __future__ import annotations

from penstock.model import codes, stages
from penstock.model.contract import CLEAR, DELETE, EXTEND, FINISH, MOVE, PUBLISH, RELEASE, REMOVE, Call
from penstock.model.limits import NEVER_US
from penstock.model.message import LEASED, PARKED, Origin
from penstock.model.options import ANY_LIVE, HOLDER_ONLY, LEASED_ONLY, WAITING_ONLY, Publishing
from tests.engine.clients import Client, notice
from tests.engine.spec.ground import asked
from tests.engine.spec.handing import HandingOut
from tests.engine.spec.truth import Message, Queue


class Lives(HandingOut):
    def publish(
        self, client: Client, token: int, name: bytes, body: bytes, delay_us: int, options: Publishing, stage: int
    ) -> None:
        come = self.come_to(options)
        if come:
            self.answer(client, token, stage, codes.ALREADY, None, come)
            return
        twin = self.twin(name, options)
        if twin:
            self.answer(client, token, stage, codes.DUPLICATE, None, twin)
            return
        code = self.refusal(name, client.dialect, body, delay_us, options, [])
        if code != codes.OK:
            self.answer(client, token, stages.READY, code, None, 0)
            return
        message = self._publish(client, name, body, delay_us, options)
        self.answer(client, token, stage, codes.OK, None, message.order)

    def _publish(
        self, client: Client, name: bytes, body: bytes, delay_us: int, options: Publishing, due_us: int = -1
    ) -> Message:
        queue = self.queue(name, client.dialect)
        if delay_us < 0:
            delay_us = self.rule(queue, "delay_us")
        ttl_us = options.ttl_us if options.ttl_us >= 0 else self.rule(queue, "ttl_us")
        message = Message(
            order=0,
            queue=name,
            body=body,
            key=options.key,
            priority=options.priority,
            parked=options.parked,
            dialect=client.dialect,
            published_us=self.now_us,
            ready_us=self.now_us + delay_us if due_us < 0 else due_us,
            expires_us=self.now_us + ttl_us if ttl_us else NEVER_US,
            lease_us=options.lease_us,
            origin=options.origin,
        )
        if options.origin is not None:
            message.deliveries, message.first_leased_us = options.origin.deliveries, options.origin.first_leased_us
        self.enter(message, queue)
        if options.origin is not None and options.origin.dedup_id and self.rule(queue, "dedup_us"):
            queue.known.append((options.origin.dedup_id, message.order, self.now_us))
        if options.origin is not None and options.origin.mark:
            self.truth.marks[options.origin.mark] = options.origin.row
        message.origin = None
        self.settle()
        message.origin = options.origin
        self._tell_published(message)
        return message

    def _tell_published(self, message: Message) -> None:
        """In the order of stages. One that was served before it was ever stored is told as finished, and no more."""
        if message in self.truth.messages:
            turns = [stages.ASSIGN] if message.place == LEASED else []
            for stage in (stages.READY, stages.WRITE, stages.SYNC, *turns):
                self.tell(message, stage)
        elif asked(message, stages.READY) or asked(message, stages.FINISH):
            assert message.origin is not None
            told = notice(message.origin.poster, stages.FINISH, message.origin.label)
            self.said.append((self._after(message, stages.FINISH), told))

    # -- endings

    def _live(self, name: bytes, number: int, rule: int, holder: int) -> Message | None:
        """A live message of this queue that the caller's rule lets it end."""
        for message in self.truth.messages:
            if message.order == number and message.queue == name:
                leased = message.place == LEASED
                if rule == LEASED_ONLY and not leased:
                    return None
                if rule == HOLDER_ONLY and not (leased and message.holder == holder):
                    return None
                if rule == WAITING_ONLY and leased:
                    return None
                return message
        return None

    def finish(self, client: Client, token: int, name: bytes, number: int, rule: int, holder: int, stage: int) -> None:
        code = self._finish(name, number, rule, holder)
        number = number if name in self.truth.queues else 0
        gone = code == codes.OK or rule == ANY_LIVE
        self.answer(client, token, stage if gone else stages.READY, code, None, number)

    def _finish(self, name: bytes, number: int, rule: int, holder: int) -> int:
        message = self._live(name, number, rule, holder)
        if message is None:
            return codes.NO_MESSAGE
        self.end(message, "finished")
        self.tell(message, stages.FINISH)
        return codes.OK

    def release(
        self,
        client: Client,
        token: int,
        name: bytes,
        number: int,
        delay_us: int,
        failed: bool,
        rule: int,
        holder: int,
        stage: int,
    ) -> None:
        code = self._release(name, number, delay_us, failed, rule, holder)
        self.answer(client, token, stage if code == codes.OK else stages.READY, code, None, number)

    def _release(self, name: bytes, number: int, delay_us: int, failed: bool, rule: int, holder: int) -> int:
        message = self._live(name, number, rule, holder)
        if message is None or message.place != LEASED:
            return codes.NO_MESSAGE
        if failed:
            self.fail(message, delay_us, timed_out=False)
        elif message.expires_us <= self.now_us:
            self.end(message, "expired")
        else:
            self._give_back(message, self.now_us + max(delay_us, 0))
        self.settle()
        return codes.OK

    def fail(self, message: Message, delay_us: int, timed_out: bool) -> None:
        """Expiry beats drop, drop beats another try."""
        queue = self.truth.queues[message.queue]
        limit = self.rule(queue, "attempts")
        if message.expires_us <= self.now_us:
            self.end(message, "expired")
            return
        message.failures += 1
        queue.tally["failed"] += 1
        if limit and message.failures >= limit:
            self._drop(message, queue)
            return
        if delay_us < 0:
            steps = self.effective(queue.name, queue.policy, queue.dialect).get("backoff_us") or (0,)
            assert isinstance(steps, tuple)
            delay_us = (*steps, *[steps[-1]] * message.failures)[message.failures - 1]
            if delay_us == 0 and timed_out and message.old_place:
                self._give_back(message, message.ready_us)
                return
        self._give_back(message, self.now_us + delay_us)

    def _give_back(self, message: Message, ready_us: int) -> None:
        message.ready_us = ready_us
        message.until_us = message.holder = 0
        self.lay(message)
        self.tell(message, stages.RETRY)

    def _drop(self, message: Message, queue: Queue) -> None:
        self.end(message, "dropped")
        self.tell(message, stages.DROP)
        name = self.effective(queue.name, queue.policy, queue.dialect).get("dead_letter")
        assert isinstance(name, bytes | None)
        if not name or name == queue.name:
            return
        origin = Origin()
        origin.dead_of, origin.dead_from = message.order, queue.name
        if message.origin is not None:
            origin.principal, origin.trace = message.origin.principal, message.origin.trace
        dead = self.queue(name, queue.dialect)
        copy = Message(
            order=0,
            queue=name,
            body=message.body,
            key=message.key,
            priority=message.priority,
            parked=False,
            dialect=message.dialect,
            published_us=self.now_us,
            ready_us=self.now_us,
            expires_us=NEVER_US,
            lease_us=message.lease_us,
            origin=origin,
        )
        self.enter(copy, dead)

    def extend(
        self, client: Client, token: int, name: bytes, number: int, lease_us: int, rule: int, holder: int, stage: int
    ) -> None:
        due_us = self._extend(name, number, lease_us, rule, holder)
        if due_us is None:
            self.answer(client, token, stages.READY, codes.NO_MESSAGE, None, number)
        else:
            self.answer(client, token, stage, codes.OK, None, due_us)

    def _extend(self, name: bytes, number: int, lease_us: int, rule: int, holder: int) -> int | None:
        message = self._live(name, number, rule, holder)
        if message is None or message.place == PARKED:
            return None
        due_us = NEVER_US if lease_us >= NEVER_US else self.now_us + max(lease_us, 0)
        if message.place == LEASED:
            message.until_us = due_us
        else:
            message.ready_us = due_us
            self.lay(message)
        self.settle()
        return int(due_us)

    def delete(self, client: Client, token: int, name: bytes, number: int, stage: int) -> None:
        code = self._delete(name, number, 0, 0)
        self.answer(client, token, stage if code == codes.OK else stages.READY, code, None, number)

    def _delete(self, name: bytes, number: int, rule: int, holder: int) -> int:
        message = self._live(name, number, rule, holder)
        if message is None:
            return codes.NO_MESSAGE
        self.end(message, "deleted")
        return codes.OK

    # -- batch

    def batch(self, client: Client, token: int, calls: list[Call], stage: int) -> None:
        code = self._refusal_of_all(client, calls)
        if code != codes.OK:
            self.answer_with(client, token, stages.READY, code, ())
            return
        self.answer_with(client, token, stage, codes.OK, tuple(self._perform(client, call) for call in calls))

    def _refusal_of_all(self, client: Client, calls: list[Call]) -> int:
        ahead: dict[bytes, list[bytes]] = {}
        for call in calls:
            options = call.options or Publishing()
            if call.verb != PUBLISH and call.needed and not self._could(call):
                return codes.NO_MESSAGE
            if call.verb != PUBLISH or self.come_to(options) or self.twin(call.queue, options):
                continue
            namesake = self._namesake(call)
            if namesake is not None and namesake.body != call.body:
                return codes.DUPLICATE
            if namesake is not None:
                continue
            before = ahead.setdefault(call.queue, [])
            delay_us = call.delay_us if call.due_us < 0 else max(call.due_us - self.now_us, 0)
            code = self.refusal(call.queue, client.dialect, call.body, delay_us, options, before)
            if code != codes.OK:
                return code
            before.append(call.body)
        return codes.OK

    def _number(self, call: Call) -> int:
        """Of the message that a call names, by its number or by its foreign id."""
        for message in self.truth.messages:
            if message.queue != call.queue:
                continue
            if message.order == call.seq:
                return call.seq
            if call.foreign_id and message.origin is not None and message.origin.foreign_id == call.foreign_id:
                return message.order
        return call.seq

    def _namesake(self, call: Call) -> Message | None:
        return self._live(call.queue, self._number(call), 0, 0) if call.foreign_id else None

    def _could(self, call: Call) -> bool:
        message = self._live(call.queue, self._number(call), call.rule, call.holder)
        if message is None or (call.verb in (EXTEND, MOVE) and message.place == PARKED):
            return False
        return call.verb != RELEASE or message.place == LEASED

    def _perform(self, client: Client, call: Call) -> tuple[int, int]:
        if call.verb == PUBLISH:
            options = call.options or Publishing()
            come = self.come_to(options)
            if come:
                return codes.ALREADY, come
            twin = self.twin(call.queue, options)
            if twin:
                return codes.DUPLICATE, twin
            namesake = self._namesake(call)
            if namesake is not None:
                self._move(namesake, call.due_us)
                return codes.DUPLICATE, namesake.order
            message = self._publish(client, call.queue, call.body, call.delay_us, options, call.due_us)
            return codes.OK, message.order
        if call.verb in (CLEAR, REMOVE):
            return self._empty(call)
        if call.verb == DELETE:
            return self._delete(call.queue, self._number(call), call.rule, call.holder), call.seq
        if call.verb == FINISH:
            return self._finish(call.queue, self._number(call), call.rule, call.holder), call.seq
        if call.verb == MOVE:
            moved = self._live(call.queue, self._number(call), call.rule, call.holder)
            if moved is None or moved.place == PARKED:
                return codes.NO_MESSAGE, call.seq
            self._move(moved, call.due_us)
            return codes.OK, call.seq
        if call.verb == EXTEND:
            due_us = self._extend(call.queue, self._number(call), call.delay_us, call.rule, call.holder)
            return codes.NO_MESSAGE if due_us is None else codes.OK, call.seq
        number = self._number(call)
        return self._release(call.queue, number, call.delay_us, call.failed, call.rule, call.holder), call.seq

    def _move(self, message: Message, due_us: int) -> None:
        """Another time from which it can be seen; if that is past, nobody has it any more."""
        if message.place == LEASED and due_us > self.now_us:
            message.until_us = due_us
        elif message.place == LEASED and message.expires_us <= self.now_us:
            self.end(message, "expired")
        elif message.place == LEASED:
            self._give_back(message, due_us)
        else:
            message.ready_us = due_us
            self.lay(message)
        self.settle()

    def _empty(self, call: Call) -> tuple[int, int]:
        if call.queue not in self.truth.queues:
            return codes.NO_QUEUE, 0
        gone = [message for message in self.truth.messages if message.queue == call.queue]
        for message in gone:
            self.end(message, "deleted")
        if call.verb == REMOVE:
            del self.truth.queues[call.queue]
        return codes.OK, len(gone)
