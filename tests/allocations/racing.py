"""Helpers of races: a client for each thread, and controls without the lock."""

import pytest
from flask import Flask
from sqlalchemy import select

from app.allocations import queries
from app.allocations.models import AllocationBlock, AllocationSlot
from tests.allocations.law import assert_books_agree
from tests.http import Client


def own(app: Flask, client: Client) -> Client:
    """Return a client for this thread."""
    return Client(app.test_client(), client.headers)


def without_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read blocks without their lock: by the caller, by a link and by a slot."""
    monkeypatch.setattr(queries, "_with_block_lock", lambda statement: statement)
    unlocked_by_id = queries.blocks_query().where(AllocationBlock.id == queries.ID_PARAM)
    block_of_slot = select(AllocationSlot.block_id).where(AllocationSlot.id == queries.ID_PARAM).scalar_subquery()
    monkeypatch.setattr(queries, "LOCK_BLOCK_BY_ID", unlocked_by_id)
    monkeypatch.setattr(
        queries, "LOCK_BLOCK_BY_SLOT_ID", queries.blocks_query().where(AllocationBlock.id == block_of_slot)
    )


def law_holds() -> bool:
    try:
        assert_books_agree()
    except AssertionError:
        return False
    return True
