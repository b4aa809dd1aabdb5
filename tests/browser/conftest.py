"""A report opened in headless Chromium, without a network, with everything that it asks for and
says written down.
"""

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from screens import WIDE

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PAGES = ("results/default/report.html", "results/test/report.html")
PATIENCE = 120_000  # ms; a loaded machine is slow, not wrong


@pytest.fixture(scope="session")
def report():
    """The page under test."""
    named = os.environ.get("PAGE") or next(filter(os.path.isfile, PAGES), None)
    if not named:
        pytest.skip("no report to test: run make test-report, or name one with PAGE")
    assert Path(named).is_file(), f"{named} isn't there"
    return Path(named).resolve()


@pytest.fixture(scope="session")
def chromium():
    """The browser's program."""
    named = os.environ.get("CHROMIUM")
    if named:
        assert shutil.which(named), f"CHROMIUM is {named}, which can't be run"
        return shutil.which(named)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip("no Chromium on PATH; install one, or name it with CHROMIUM")
    return found


@pytest.fixture(scope="session")
def browser(chromium):
    """One browser for all tests."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        # root can't have the sandbox; it is our own page
        started = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"], timeout=PATIENCE
        )
        yield started
        started.close()


@dataclass
class Opened:
    """A page with its browser's notes: addresses asked for, and what was said on the console."""

    page: Any
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@pytest.fixture
def opened(browser, report):
    """Open the report: ``with opened(size, dark=True) as it: it.page...``."""

    @contextmanager
    def open_report(size=WIDE, *, dark=False, place=""):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            offline=True,
        )
        context.set_default_timeout(PATIENCE)
        it = Opened(context.new_page())
        it.page.on("request", lambda request: it.requests.append(request.url))
        it.page.on("console", lambda message: it.said.append(f"{message.type}: {message.text}"))
        it.page.on("pageerror", lambda error: it.said.append(f"error: {error}"))
        it.page.goto(report.as_uri() + place, wait_until="load", timeout=PATIENCE)
        try:
            yield it
        finally:
            context.close()

    return open_report
