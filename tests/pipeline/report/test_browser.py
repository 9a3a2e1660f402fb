"""The page in a real browser: at both widths, in light and dark, with a pointer and with keys; without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import pytest

from harness.browser import Browser, browsing
from penstock.pipeline.report.numbers import Report
from penstock.pipeline.report.page import page
from tests.pipeline.report.samples import lively, nothing

P = ParamSpec("P")
PATIENCE_S = 100.0
DESKTOP, PHONE = 1280, 390


def played(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    @wraps(test)
    def play(*args: P.args, **kwargs: P.kwargs) -> None:
        async def bounded() -> None:
            await asyncio.wait_for(test(*args, **kwargs), PATIENCE_S)

        asyncio.run(bounded())

    return play


async def shown(browser: Browser, folder: Path, report: Report, wide: int, dark: bool = False) -> Browser:
    file = folder / "report.html"
    file.write_text(page(report), encoding="utf-8")
    return await browser.open(file.as_uri(), wide, dark=dark)


@pytest.mark.parametrize("report", [lively(), nothing()], ids=["lively", "nothing"])
@played
async def test_it_fits_is_quiet_and_asks_for_nothing(tmp_path: Path, report: Report) -> None:
    async with browsing() as browser:
        for wide in (DESKTOP, PHONE):
            for dark in (False, True):
                await shown(browser, tmp_path, report, wide, dark)
                assert await browser.run("document.documentElement.scrollWidth") == wide
                assert await browser.run("document.querySelectorAll('figure').length") == 6
        assert browser.errors == []
        assert set(browser.requests) == {(tmp_path / "report.html").as_uri()}


@played
async def test_every_chart_is_drawn_with_axes_and_tells_what_is_under_the_pointer(tmp_path: Path) -> None:
    async with browsing() as browser:
        await shown(browser, tmp_path, lively(), DESKTOP)
        drawn = "[...document.querySelectorAll('figure')].map(f => f.querySelectorAll('.plot text').length)"
        assert min(await browser.run(drawn)) >= 6
        middle = "(() => { const r = document.querySelector('#wait .plot').getBoundingClientRect();"
        await browser.run("document.getElementById('wait').scrollIntoView({block: 'center'})")
        await browser.move(*await browser.run(f"{middle} return [r.x + r.width / 2, r.y + r.height / 2]; }})()"))
        tip = await browser.run("document.querySelector('.tip').innerText")
        assert "p50" in tip
        assert "2 Jan" in tip
        assert await browser.run("document.querySelectorAll('.cursor').length") == 6
        await browser.move(1, 1)
        assert await browser.run("document.querySelectorAll('.tip').length") == 0


@played
async def test_keys_go_through_the_values_too(tmp_path: Path) -> None:
    async with browsing() as browser:
        await shown(browser, tmp_path, lively(), PHONE)
        await browser.run("document.getElementById('throughput').focus()")
        for _ in range(3):
            await browser.press("ArrowRight")
        assert "00:20 – 00:30" in await browser.run("document.querySelector('.tip').innerText")
        assert browser.errors == []


@played
async def test_choosing_a_queue_draws_its_charts(tmp_path: Path) -> None:
    async with browsing() as browser:
        await shown(browser, tmp_path, lively(), DESKTOP)
        before = await browser.run("document.querySelector('#throughput .plot').innerHTML")
        await browser.run("document.querySelector('button[data-group=\"2\"]').click()")
        assert await browser.run("document.getElementById('group').selectedOptions[0].text") == "mails"
        assert await browser.run("document.querySelector('#throughput .plot').innerHTML") != before
        assert browser.errors == []


@played
async def test_a_chart_without_numbers_says_so(tmp_path: Path) -> None:
    async with browsing() as browser:
        await shown(browser, tmp_path, nothing(), PHONE)
        words = await browser.run("[...document.querySelectorAll('.plot .empty')].map(p => p.textContent)")
        assert words[0] == "Nothing was published or finished."
        assert len(words) == 6


@played
async def test_a_name_that_would_be_markup_runs_nothing(tmp_path: Path) -> None:
    async with browsing() as browser:
        await shown(browser, tmp_path, lively(), DESKTOP)
        assert await browser.run("document.images.length") == 0
        assert await browser.run("document.scripts.length") == 2


@played
async def test_a_window_that_becomes_narrow_has_its_charts_drawn_anew(tmp_path: Path) -> None:
    async with browsing() as browser:
        await shown(browser, tmp_path, lively(), DESKTOP)
        narrow = {"width": PHONE, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        await browser.ask("Emulation.setDeviceMetricsOverride", **narrow)
        while await browser.run("document.querySelector('#wait svg').viewBox.baseVal.width") > PHONE:
            await asyncio.sleep(0.02)
        assert await browser.run("document.documentElement.scrollWidth") == PHONE
