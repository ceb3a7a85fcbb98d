"""Helpers of races: a client for each thread, and controls without the lock."""

import pytest
from flask import Flask

from app.allocations import queries
from tests.allocations.law import assert_books_agree
from tests.http import Client


def own(app: Flask, client: Client) -> Client:
    """Return a client for this thread."""
    return Client(app.test_client(), client.headers)


def without_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "_with_block_lock", lambda statement: statement)


def law_holds() -> bool:
    try:
        assert_books_agree()
    except AssertionError:
        return False
    return True
