"""A visitor without scripts, and a real browser before the application on a loopback port."""

import os
import shutil
from collections.abc import Iterator
from threading import Thread

import pytest
from flask import Flask
from playwright.sync_api import Browser, sync_playwright
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.pages.pages import Visitor

BROWSERS = ("chromium-headless-shell", "chromium")
"""The shell needs half the time of the processor for the same pages."""
MISSING = (
    "Chromium is missing. Install it (on Debian: apt-get install chromium-headless-shell), or name it in CHROMIUM."
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Quiet(WSGIRequestHandler):
    """The application logs for itself."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Says nothing."""


@pytest.fixture
def visitor(app: Flask) -> Visitor:
    return Visitor(app.test_client())


def find_chromium() -> str:
    """The path of the browser: CHROMIUM, or the first of BROWSERS that is installed."""
    for name in (os.environ.get("CHROMIUM"), *BROWSERS):
        if name and (path := shutil.which(name)):
            return path
    pytest.fail(MISSING)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser a module: playwright keeps an event loop, which other tests of the worker must not meet."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """Where the application answers over a real socket, on the test's own database."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
