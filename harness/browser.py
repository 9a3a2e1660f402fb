"""A real browser without a window, over its debugging protocol: it opens a page, looks at it, hears its errors."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
START_S = 60.0
ANSWER_S = 60.0


class Browser:
    """One tab. `errors` is what the page complained of, `requests` the addresses it asked for."""

    def __init__(self, line: aiohttp.ClientWebSocketResponse) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._line = line
        self._number = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._loaded = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def open(self, url: str, wide: int, high: int = 900, dark: bool = False) -> Self:
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.ask(f"{domain}.enable")
        mobile = wide < 600
        size = {"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": mobile}
        await self.ask("Emulation.setDeviceMetricsOverride", **size)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.ask("Emulation.setEmulatedMedia", features=[theme])
        self._loaded.clear()
        await self.ask("Page.navigate", url=url)
        await asyncio.wait_for(self._loaded.wait(), ANSWER_S)
        return self

    async def run(self, script: str) -> Any:
        """What an expression of JavaScript comes to."""
        told = await self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    async def move(self, x: float, y: float) -> None:
        await self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    async def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            await self.ask("Input.dispatchKeyEvent", type=kind, key=key)

    async def picture(self) -> bytes:
        """The whole page, as PNG."""
        told = await self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(told["data"])

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        await self._line.send_str(json.dumps({"id": self._number, "method": method, "params": params}))
        return await asyncio.wait_for(answer, ANSWER_S)

    async def close(self) -> None:
        self._reader.cancel()
        await self._line.close()

    async def _read(self) -> None:
        async for frame in self._line:
            told = json.loads(frame.data)
            if "id" in told:
                self._answer(told)
            else:
                self._hear(told["method"], told["params"])

    def _answer(self, told: dict[str, Any]) -> None:
        answer = self._answers.pop(told["id"])
        if "error" in told:
            answer.set_exception(RuntimeError(told["error"]["message"]))
        else:
            answer.set_result(told["result"])

    def _hear(self, event: str, said: dict[str, Any]) -> None:
        if event == "Page.loadEventFired":
            self._loaded.set()
        elif event == "Runtime.exceptionThrown":
            self.errors.append(str(said["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.errors.append(str(said["args"]))
        elif event == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.errors.append(said["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])


def program() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    """A browser of its own for the length of a block."""
    found = program()
    assert found is not None, "there is no chromium; `make test` installs it"
    with tempfile.TemporaryDirectory(prefix="penstock-browser-", ignore_cleanup_errors=True) as profile:
        command = [found, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        quiet = ["--no-first-run", "--disable-background-networking", "--hide-scrollbars"]
        where = [f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
        process = subprocess.Popen([*command, *quiet, *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            async with aiohttp.ClientSession() as http:
                browser = Browser(await _tab(http, Path(profile, "DevToolsActivePort")))
                yield browser
                await browser.close()
        finally:
            process.kill()
            process.wait()


async def _tab(http: aiohttp.ClientSession, told: Path) -> aiohttp.ClientWebSocketResponse:
    async with asyncio.timeout(START_S):
        while not told.exists() or not told.read_text():
            await asyncio.sleep(0.02)
        port = told.read_text().split()[0]
        while True:
            async with http.get(f"http://127.0.0.1:{port}/json/list") as answer:
                tabs = [tab for tab in await answer.json() if tab["type"] == "page"]
            if tabs:
                return await http.ws_connect(tabs[0]["webSocketDebuggerUrl"], max_msg_size=0)
            await asyncio.sleep(0.02)
