"""A connection on a real socket: pipelining, half close, slow readers, limits, and what a broken session may break."""

from __future__ import annotations

import asyncio
import gc
from typing import cast

from penstock.model.limits import LINGER_S, SECOND_US
from penstock.server.connection import Connection
from tests.server.fakes import FakeStore, HandClock, LineSession, place, run, until

READ_BYTES = 256_000  # that the loop takes from a socket at once


def stop_reading(writer: asyncio.StreamWriter) -> None:
    cast(asyncio.Transport, writer.transport).pause_reading()


def test_pipelined_requests_are_answered_in_order() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            lines = b"".join(b"line %d\n" % at for at in range(5_000))
            writer.write(lines)
            assert await reader.readexactly(len(lines)) == lines

    run(scenario())


def test_requests_of_one_segment_share_one_tick_and_one_commit() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"first\n")
            await reader.readline()
            room.store.calls.clear()
            writer.write(b"a\nb\nc\n")
            assert await reader.readexactly(6) == b"a\nb\nc\n"
            assert room.store.calls == ["begin", "verb", "verb", "verb", "commit"]

    run(scenario())


def test_pieces_that_follow_at_once_share_one_tick_and_one_commit() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with place(clock=hand.clock(), spin_us=100) as room:
            reader, writer = await room.connect()
            for number, piece in enumerate((b"a\n", b"b\n", b"c\n"), start=1):
                writer.write(piece)
                await until(lambda number=number: room.store.calls.count("verb") == number)  # type: ignore[misc]
            hand.elapsed_us += 100
            assert await reader.readexactly(6) == b"a\nb\nc\n"
            assert room.store.calls == ["begin", "verb", "verb", "verb", "commit"]

    run(scenario())


def test_input_may_be_cut_at_any_byte() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            for byte in b"hello\nworld\n":
                writer.write(bytes((byte,)))
                await writer.drain()
                await asyncio.sleep(0)
            assert await reader.readexactly(12) == b"hello\nworld\n"

    run(scenario())


def test_two_connections_read_through_one_buffer_and_do_not_mix() -> None:
    async def scenario() -> None:
        async with place() as room:
            pairs = [await room.connect() for _ in range(20)]
            for at, (_, writer) in enumerate(pairs):
                writer.write(b"%d\n" % at * 2_000)
            for at, (reader, _) in enumerate(pairs):
                expected = b"%d\n" % at * 2_000
                assert await reader.readexactly(len(expected)) == expected

    run(scenario())


def test_after_a_half_close_the_server_stays_until_it_has_answered() -> None:
    async def scenario() -> None:
        store = FakeStore()
        store.withholds = True
        async with place(store) as room:
            reader, writer = await room.connect()
            writer.write(b"one\ntwo\n")
            writer.write_eof()
            await until(lambda: room.sessions != [] and room.sessions[0].ended)
            await room.tick()
            assert room.seats.taken == 1
            store.withholds = False
            await room.tick()
            assert await reader.read() == b"one\ntwo\n"
            await until(lambda: room.seats.taken == 0)

    run(scenario())


def test_a_half_close_loses_no_answer() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"one\ntwo\n")
            writer.write_eof()
            assert await reader.read() == b"one\ntwo\n"
            await until(lambda: room.seats.taken == 0)

    run(scenario())


def test_the_session_learns_once_that_its_client_is_gone() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"hello\n")
            await reader.readline()
            writer.transport.abort()
            await until(lambda: room.seats.taken == 0)
            assert room.sessions[0].lost_times == 1
            assert room.listener.connections == set()

    run(scenario())


def test_a_client_that_does_not_read_is_cut_at_the_cap_and_counted() -> None:
    async def scenario() -> None:
        async with place(output_cap_bytes=1 << 20) as room:
            _, writer = await room.connect()
            other_reader, other_writer = await room.connect()
            stop_reading(writer)
            while room.listener.counts["slow"] == 0:
                writer.write(b"big 100000\n")
                await asyncio.sleep(0)
            await until(lambda: room.seats.taken == 1)
            other_writer.write(b"still here\n")
            assert await other_reader.readline() == b"still here\n"

    run(scenario())


def test_what_a_cut_client_had_not_read_is_bounded_by_the_cap() -> None:
    async def scenario() -> None:
        cap = 1 << 20
        async with place(output_cap_bytes=cap) as room:
            _, writer = await room.connect()
            stop_reading(writer)
            most = 0
            while room.listener.counts["slow"] == 0:
                writer.write(b"big 100000\n")
                await asyncio.sleep(0)
                most = max([most, *(seat.unsent() for seat in room.listener.connections)])
            assert most <= cap + 16 * len(b"." * 100_000 + b"\n"), "what a few requests have brought since it was asked"

    run(scenario())


def test_more_connections_than_the_limit_are_closed_as_they_come() -> None:
    async def scenario() -> None:
        async with place(limit=2) as room:
            first = await room.connect()
            await room.connect()
            await until(lambda: room.seats.taken == 2)
            third_reader, _ = await room.connect()
            try:
                assert await third_reader.read() == b""
            except ConnectionResetError:
                pass
            assert room.listener.counts["refused"] == 1
            first[1].transport.abort()
            await until(lambda: room.seats.taken == 1)
            reader, writer = await room.connect()
            writer.write(b"room again\n")
            assert await reader.readline() == b"room again\n"

    run(scenario())


def test_quiet_connections_are_closed_and_talking_ones_are_not() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with place(clock=hand.clock(), idle_us=10 * SECOND_US) as room:
            quiet_reader, _ = await room.connect()
            reader, writer = await room.connect()
            hand.elapsed_us = 9 * SECOND_US
            writer.write(b"hello\n")
            await reader.readline()
            hand.elapsed_us = 11 * SECOND_US
            room.listener.sweep(room.clock.now_us())
            assert await quiet_reader.read() == b""
            assert room.listener.counts["quiet"] == 1
            writer.write(b"hello again\n")
            assert await reader.readline() == b"hello again\n"

    run(scenario())


def test_a_connection_that_comes_after_a_long_silence_is_not_taken_for_a_quiet_one() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with place(clock=hand.clock(), idle_us=10 * SECOND_US) as room:
            hand.elapsed_us = 3_600 * SECOND_US
            reader, writer = await room.connect()
            await until(lambda: room.seats.taken == 1)
            room.listener.sweep(room.clock.now_us())
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"

    run(scenario())


def test_a_session_that_wants_to_close_is_heard_to_the_end() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"last words\nbye\n")
            assert await reader.read() == b"last words\nbye\n"
            writer.close()
            await until(lambda: room.seats.taken == 0)

    run(scenario())


def test_where_the_server_ends_it_the_session_has_the_last_word() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
            room.sessions[0].last_words = b"going away"
            for seat in list(room.listener.connections):
                seat.end()
            assert await reader.read() == b"going away"
            writer.close()
            await until(lambda: room.seats.taken == 0)

    run(scenario())


def test_input_after_the_end_is_read_and_dropped_so_that_no_reset_destroys_the_last_words() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"bye\n")
            await until(lambda: bool(room.listener.ending))
            writer.write(b"more\n" * 10_000)
            writer.write_eof()
            assert await reader.read() == b"bye\n"
            await until(lambda: room.seats.taken == 0)
            assert room.sessions[0].input == b"bye\n"
            writer.close()
            await until(lambda: room.seats.taken == 0)

    run(scenario())


def test_a_client_that_does_not_leave_after_the_end_is_cut() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with place(clock=hand.clock()) as room:
            reader, writer = await room.connect()
            writer.write(b"bye\n")
            assert await reader.read() == b"bye\n"
            room.listener.sweep(room.clock.now_us())
            assert room.seats.taken == 1
            hand.elapsed_us += int(LINGER_S * 1_000_000) + 1
            room.listener.sweep(room.clock.now_us())
            await until(lambda: room.seats.taken == 0)

    run(scenario())


def test_a_failing_session_costs_its_own_connection_only() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            other_reader, other_writer = await room.connect()
            writer.write(b"oops\n")
            try:
                assert await reader.read() == b""
            except ConnectionResetError:
                pass
            other_writer.write(b"fine\n")
            assert await other_reader.readline() == b"fine\n"
            assert room.listener.counts["failed"] == 1
            assert "a bug in a session" in room.log.getvalue()

    run(scenario())


def test_held_back_input_goes_on_when_answers_have_been_read() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"big 600000\n" * 30 + b"end\n")
            expected = (b"." * 600_000 + b"\n") * 30 + b"end\n"
            assert await reader.readexactly(len(expected)) == expected
            assert room.sessions[0].times_held > 1

    run(scenario())


def test_held_back_input_waits_for_late_answers_without_spinning() -> None:
    async def scenario() -> None:
        store = FakeStore()
        store.withholds = True
        async with place(store) as room:
            reader, writer = await room.connect()
            writer.write(b"big 3000000\nend\n")
            await until(lambda: room.sessions != [] and room.sessions[0].times_held > 0)
            await room.tick()
            ticks = room.heart.ticks
            await asyncio.sleep(0.02)
            assert room.heart.ticks <= ticks + 2
            store.withholds = False
            await room.tick()
            assert await reader.readexactly(3_000_005) == b"." * 3_000_000 + b"\nend\n"

    run(scenario())


def test_nothing_more_is_read_from_a_client_while_its_input_is_held_back() -> None:
    async def scenario() -> None:
        async with place() as room:
            _, writer = await room.connect()
            stop_reading(writer)
            writer.write(b"big 3000000\n" * 3)
            await until(lambda: room.sessions[0].times_held > 0)
            seen = len(room.sessions[0].input)
            writer.write(b"x\n" * 4_000_000)
            for _ in range(50):
                await asyncio.sleep(0.001)
            assert len(room.sessions[0].input) < seen + 8 * READ_BYTES

    run(scenario())


def test_after_the_store_has_died_nobody_is_answered() -> None:
    async def scenario() -> None:
        store = FakeStore()
        async with place(store) as room:
            reader, writer = await room.connect()
            writer.write(b"before\n")
            assert await reader.readline() == b"before\n"
            store.dies_at = "commit"
            writer.write(b"after\n")
            await until(lambda: bool(room.deaths))
            store.dies_at = ""
            writer.write(b"again\n")
            for seat in list(room.listener.connections):
                seat.cut()
            try:
                assert await reader.read() == b""
            except ConnectionResetError:
                pass
            assert len(room.deaths) == 1

    run(scenario())


def alive() -> int:
    """Connections and sessions that something still holds; a compiled class has no weak references to ask."""
    return sum(isinstance(one, Connection | LineSession) for one in gc.get_objects())


def test_a_connection_that_is_gone_leaves_nothing_for_the_garbage_collector() -> None:
    async def scenario() -> None:
        async with place() as room:
            reader, writer = await room.connect()
            writer.write(b"hello\n")
            await reader.readline()
            gc.collect()
            assert alive() == 2
            gc.disable()
            try:
                writer.close()
                await until(lambda: room.seats.taken == 0)
                room.sessions.clear()
                await until(lambda: alive() == 0)
            finally:
                gc.enable()

    run(scenario())
