"""What races of tickets need: a client for each thread, and guards that a control takes away."""

import pytest
from flask import Flask

from app.allocations import block_access
from tests.allocations.law import assert_books_agree
from tests.http import Client


def own(app: Flask, who: Client) -> Client:
    """A client of this thread's own."""
    return Client(app.test_client(), who.headers)


def without_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_access, "_with_block_lock", lambda statement: statement)


def law_holds() -> bool:
    try:
        assert_books_agree()
    except AssertionError:
        return False
    return True
