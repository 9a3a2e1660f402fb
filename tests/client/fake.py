"""A scripted server on a real socket: it hears frames, and answers what a test has told it to, or nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, ParamSpec

from librt.strings import BytesWriter

from penstock.codecs import upgrade, websocket
from penstock.codecs.upgrade import Head
from penstock.codecs.websocket import FrameReader

P = ParamSpec("P")
Frame = dict[str, Any]
Answer = Callable[["Line", Frame], None]

ACCEPTING_TURNS = 8  # of the loop, at least, until one who was just accepted is served
PATIENCE_S = 20.0
FIRST_ID = 100


def played(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """An asynchronous test as a plain one, that ends."""

    @wraps(test)
    def play(*args: P.args, **kwargs: P.kwargs) -> None:
        async def bounded() -> None:
            await asyncio.wait_for(test(*args, **kwargs), PATIENCE_S)

        asyncio.run(bounded())

    return play


class Line:
    """One connection, from the server's side."""

    def __init__(self, server: FakeServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._frames = FrameReader(1 << 24, True)
        self.head: Head | None = None

    async def serve(self) -> None:
        data = await self._reader.readuntil(upgrade.HEAD_END)
        self.head = upgrade.parse_head(data)
        assert self.head is not None
        if self._server.refuses_with:
            self._writer.write(f"HTTP/1.1 {self._server.refuses_with} No\r\n\r\n".encode())
            self._writer.close()
            return
        self._writer.write(upgrade.welcome(self.head.key()))
        self.say({"type": "hello", "id": self._server.identify(self.head)})
        while data := await self._reader.read(65_536):
            self._frames.feed(data)
            while not self._writer.is_closing() and self._take():
                pass

    def _take(self) -> bool:
        kind = self._frames.take()
        if kind == websocket.TEXT:
            self._server.hear(self, json.loads(self._frames.payload))
        elif kind == websocket.PING and self._server.pongs:
            self._put(websocket.PONG, self._frames.payload)
        elif kind == websocket.CLOSE:
            self._server.goodbye(self)
            self._put(websocket.CLOSE, websocket.close_payload(self._frames.close_code))
            self._writer.close()
        return kind >= 0

    def say(self, frame: Frame) -> None:
        self._put(websocket.TEXT, json.dumps(frame).encode())

    def say_bytes(self, data: bytes) -> None:
        self._writer.write(data)

    def cut(self) -> None:
        self._writer.transport.abort()

    def _put(self, opcode: int, payload: bytes) -> None:
        out = BytesWriter()
        websocket.write_frame(out, opcode, payload)
        self._writer.write(out.getvalue())


class FakeServer:
    """`answers`: by type of request, what is said to it. What has none is heard, and that is all."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.heard: list[Frame] = []
        self.lines: list[Line] = []
        self.heads: list[Head] = []
        self.refuses_with = 0
        self.keeps_ids = True
        self.pongs = True
        self.on_goodbye: Callable[[Line], None] = lambda line: None
        self.port = 0
        self._next_id = FIRST_ID
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self._changed = asyncio.Event()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Nobody listens any more, and every connection breaks; none is left to the garbage collector."""
        assert self._server is not None
        self._server.close()
        for _ in range(ACCEPTING_TURNS):
            await asyncio.sleep(0)
        self.cut()
        writers, self._writers = self._writers, []
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def cut(self) -> None:
        lines, self.lines = self.lines, []
        for line in lines:
            line.cut()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(self, reader, writer)
        self.lines.append(line)
        self._writers.append(writer)
        try:
            await line.serve()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def identify(self, head: Head) -> int:
        self.heads.append(head)
        self._tell()
        if self.keeps_ids and (said := head.headers.get("reconnect-as")):
            return int(said)
        self._next_id += 1
        return self._next_id - 1

    def hear(self, line: Line, frame: Frame) -> None:
        self.heard.append(frame)
        self._tell()
        if answer := self.answers.get(frame["type"]):
            answer(line, frame)

    def goodbye(self, line: Line) -> None:
        self.on_goodbye(line)

    def types(self) -> list[str]:
        return [frame["type"] for frame in self.heard]

    async def until(self, condition: Callable[[FakeServer], bool]) -> None:
        """Waits until something that was heard makes it true."""
        while not condition(self):
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), PATIENCE_S)

    def _tell(self) -> None:
        self._changed.set()


@asynccontextmanager
async def fake_server() -> AsyncIterator[FakeServer]:
    server = FakeServer()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


# -- answers


def says(kind: str, **fields: Any) -> Answer:
    """The same answer, with the label of the request."""
    return lambda line, frame: line.say({"type": kind, "label": frame["label"], **fields})


def refuses(code: str, key: str = "q") -> Answer:
    return says("error", code=code, key=key)


def publishes(line: Line, frame: Frame) -> None:
    told = [{"shard": 1, "sequence": at, "duplicate": False} for at in range(len(frame["messages"]))]
    line.say({"type": "published", "label": frame["label"], "messages": told})


def gives(*bodies: str, **fields: Any) -> Answer:
    """A reserve is answered with these."""
    given = [{"shard": 7, "sequence": at, "body": body} | fields for at, body in enumerate(bodies)]
    return says("reserved", messages=given)


def ends(kind: str, done: bool = True) -> Answer:
    """Every message of the request is ended like this."""

    def answer(line: Line, frame: Frame) -> None:
        line.say({"type": kind, "label": frame["label"], "messages": [done for _ in frame["messages"]]})

    return answer


def after_the_wait(answer: Answer) -> Answer:
    """Nothing comes within the time that a reserve waits."""

    def answered(line: Line, frame: Frame) -> None:
        asyncio.get_running_loop().call_later(frame["wait"], answer, line, frame)

    return answered
