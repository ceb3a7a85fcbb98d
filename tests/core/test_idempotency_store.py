"""Kept answers, at the level of the row."""

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select

from app.core.db import db
from app.core.idempotency_store import (
    IdempotencyKey,
    IdempotencyScope,
    OtherBody,
    OtherGrant,
    StoredResponse,
    lock_key,
    release_key,
    store_response,
)
from app.core.transaction import transaction

ANSWER = StoredResponse(201, "application/json", b'{"accessToken":"canary"}')


def place(
    asked: bytes = b"body", key: str = "key-12345", keep_forever: bool = False, grant: str = ""
) -> IdempotencyScope:
    return IdempotencyScope("caller", "POST /x", key, asked, keep_forever, grant)


@pytest.fixture
def kept(app: Flask) -> IdempotencyScope:
    with transaction() as session:
        assert lock_key(session, place()) is None
        store_response(place(), ANSWER)
    return place()


def test_the_second_request_gets_the_stored_response(kept: IdempotencyScope) -> None:
    with transaction() as session:
        assert lock_key(session, kept) == ANSWER


def test_another_body_is_told_apart(kept: IdempotencyScope) -> None:
    with pytest.raises(OtherBody), transaction() as session:
        lock_key(session, place(b"other"))


def test_a_response_is_given_to_the_same_grant_only(app: Flask) -> None:
    with transaction() as session:
        lock_key(session, place(grant="Finance"))
        store_response(place(grant="Finance"), ANSWER)
    with transaction() as session:
        assert lock_key(session, place(grant="Finance")) == ANSWER
    with pytest.raises(OtherGrant), transaction() as session:
        lock_key(session, place(grant="Read only"))


def test_a_forgotten_key_is_free(kept: IdempotencyScope) -> None:
    with transaction() as session:
        release_key(session, kept)
        assert lock_key(session, place(b"other")) is None


def test_neither_body_nor_answer_can_be_read_in_the_table(kept: IdempotencyScope) -> None:
    row = db.session.scalars(select(IdempotencyKey)).one()
    assert row.body and b"canary" not in row.body and len(row.fingerprint) == 64


@pytest.mark.parametrize("change", [lambda row: row.body[:-1] + b"x", lambda row: b"\0" * 40])
def test_an_answer_that_was_tampered_with_is_not_given(
    kept: IdempotencyScope, change: Callable[[IdempotencyKey], bytes]
) -> None:
    from cryptography.exceptions import InvalidTag

    with transaction() as session:
        row = session.scalars(select(IdempotencyKey)).one()
        row.body = change(row)
    with pytest.raises(InvalidTag), transaction() as session:
        lock_key(session, kept)


def test_an_answer_moved_to_another_key_is_not_given(kept: IdempotencyScope) -> None:
    from cryptography.exceptions import InvalidTag

    other = place(key="another-key")
    with transaction() as session:
        lock_key(session, other)
        body = session.scalars(select(IdempotencyKey.body).where(IdempotencyKey.key == kept.key)).one()
        store_response(other, ANSWER)
        session.scalars(select(IdempotencyKey).where(IdempotencyKey.key == other.key)).one().body = body
    with pytest.raises(InvalidTag), transaction() as session:
        lock_key(session, other)


def test_for_ever_has_no_end(app: Flask) -> None:
    with transaction() as session:
        lock_key(session, place(keep_forever=True))
    assert db.session.scalars(select(IdempotencyKey)).one().expires_at is None
