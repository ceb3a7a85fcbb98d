"""Idempotency keys: a repeated request gets the same response and has one effect."""

from io import BytesIO
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.core import idempotency_store
from app.core.db import db
from app.core.transaction import transaction
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.http import Client, data, list_problems, read_error
from tests.web import shop

KEY = "key-0123456789"


def add(client: Client, name: str = "x", key: str | None = KEY, path: str = "/t/items", **more: Any) -> TestResponse:
    return client.post(path, {"name": name, **more}, headers={} if key is None else {"Idempotency-Key": key})


def rows(query: str = "SELECT * FROM idempotency_key") -> list[Any]:
    with db.engine.connect() as connection:
        return list(connection.execute(text(query)).mappings())


def test_repeated_request_gets_same_response_and_one_effect(client: Client) -> None:
    first, again = add(client), add(client)
    assert data(first, 201) == data(again, 201) and shop.count() == 1
    assert again.headers["Idempotent-Replayed"] == "true" and "Idempotent-Replayed" not in first.headers
    assert first.get_json()["requestId"] != again.get_json()["requestId"]
    assert list(first.get_json()) == list(again.get_json())


def test_without_a_key_everything_happens_twice(client: Client) -> None:
    assert data(add(client, key=None), 201)["id"] != data(add(client, key=None), 201)["id"]
    assert shop.count() == 2 and rows() == []


def test_another_body_under_the_same_key_is_refused(client: Client) -> None:
    data(add(client), 201)
    for other in (
        add(client, "y"),
        add(client, priceMinor=1),
        client.post("/t/items?a=1", {"name": "x"}, headers={"Idempotency-Key": KEY}),
    ):
        assert read_error(other) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert shop.count() == 1


def test_the_same_json_in_other_words_is_the_same_body(client: Client) -> None:
    headers = {"Idempotency-Key": KEY, "Content-Type": "application/json"}
    one = client.open("POST", "/t/items", data='{"name": "ü", "priceMinor": 5}', headers=headers)
    two = client.open("POST", "/t/items", data='{ "priceMinor":5,"name":"\\u00fc"}', headers=headers)
    assert data(one, 201) == data(two, 201) and shop.count() == 1


def test_header_and_body_mean_the_same(client: Client) -> None:
    first = add(client, key=None, idempotencyKey=KEY)
    assert data(add(client), 201) == data(first, 201) == data(add(client, idempotencyKey=KEY), 201)
    assert shop.count() == 1
    response = add(client, idempotencyKey="another-key-1")
    assert read_error(response) == (422, "IDEMPOTENCY_KEYS_DIFFER")


@pytest.mark.parametrize("key", ["", "short12", "x" * 81, "tab\tinside-it", "ümlaut-key-1"])
def test_a_key_of_another_form_is_422(client: Client, key: str) -> None:
    assert list(list_problems(add(client, key=key))) == ["Idempotency-Key"]
    assert shop.count() == 0


@pytest.mark.parametrize("key", ["short12", "x" * 81, 12345678, None, "nul\x00inside-it"])
def test_a_key_of_another_form_in_the_body_is_422(client: Client, key: Any) -> None:
    assert list(list_problems(add(client, key=None, idempotencyKey=key))) == ["idempotencyKey"]


def test_callers_and_operations_do_not_share_keys(client: Client) -> None:
    one, other = create_signed_in_client(client, create_customer()), create_signed_in_client(client, create_customer())
    made = {data(add(who), 201)["id"] for who in (client, one, other)}
    assert len(made) == 3 and shop.count() == 3
    assert read_error(add(client, path="/t/guess")) == (422, "SHOP_WRONG_GUESS")
    assert data(add(one), 201)["id"] in made and shop.count() == 4


def test_two_anonymous_callers_share_one_scope(client: Client) -> None:
    assert data(add(client), 201) == data(add(Client(client.flask)), 201)


def test_a_refused_request_leaves_the_key_free(client: Client) -> None:
    assert list_problems(add(client, "")) == {"name": "too_short"}
    data(add(client), 201)
    assert rows("SELECT 1 FROM idempotency_key") == [{"?column?": 1}]


def test_a_state_that_did_not_allow_it_leaves_the_key_free(client: Client) -> None:
    headers = {"Idempotency-Key": KEY}
    assert read_error(client.post("/t/close", headers=headers)) == (409, "SHOP_ALREADY_CLOSED")
    assert rows() == []
    shop.stock(1)
    assert client.post("/t/close", headers=headers).status_code == 202
    again = client.post("/t/close", headers=headers)
    assert again.status_code == 202 and again.headers["Idempotent-Replayed"] == "true"


def test_refusal_keeps_committed_effects_and_rolls_back_the_rest(client: Client) -> None:
    for _ in range(3):
        assert read_error(add(client, "wrong", path="/t/guess")) == (422, "SHOP_WRONG_GUESS")
    assert [row["name"] for row in rows("SELECT name FROM shop_item")] == ["a guess"] * 3 and rows() == []
    data(add(client, "sesame", path="/t/guess"))
    assert data(add(client, "sesame", path="/t/guess")) == {} and shop.count() == 4


def test_the_same_holds_without_a_key(client: Client) -> None:
    assert read_error(add(client, "wrong", key=None, path="/t/guess")) == (422, "SHOP_WRONG_GUESS")
    assert [row["name"] for row in rows("SELECT name FROM shop_item")] == ["a guess"]


def test_a_bug_leaves_nothing_behind(client: Client) -> None:
    shop.stock(1)
    with transaction() as session:
        session.execute(text("ALTER TABLE shop_item ADD CONSTRAINT full_shop CHECK (rank < 0) NOT VALID"))
    try:
        assert read_error(add(client)) == (500, "INTERNAL_ERROR")
    finally:
        with transaction() as session:
            session.execute(text("ALTER TABLE shop_item DROP CONSTRAINT full_shop"))
    assert rows() == [] and shop.count() == 1
    data(add(client), 201)


class Killed(BaseException):
    """What happens to a process that nobody asked."""


def test_a_repeat_after_a_lost_response_gets_the_response(client: Client) -> None:
    def die() -> None:
        raise Killed

    shop.after.append(die)
    headers = {"Idempotency-Key": KEY}
    with pytest.raises(Killed):
        client.post("/t/staged", headers=headers)
    assert shop.count() == 1
    again = client.post("/t/staged", headers=headers)
    assert again.headers["Idempotent-Replayed"] == "true" and shop.count() == 1
    assert data(again)["id"] == rows("SELECT id FROM shop_item")[0]["id"]


def test_crash_before_commit_has_no_effect(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(idempotency_store, "store_response", die)
        add(client)
    assert shop.count() == 0 and rows() == []
    data(add(client), 201)


def test_a_key_lasts_forty_eight_hours(client: Client) -> None:
    first = data(add(client), 201)
    _age("47 hours 59 minutes")
    assert data(add(client), 201) == first
    _age("2 minutes")
    assert data(add(client, "something else"), 201)["id"] != first["id"]
    assert len(rows()) == 1


def test_a_key_for_money_lasts_for_ever(client: Client) -> None:
    first = data(client.post("/t/staged", headers={"Idempotency-Key": KEY}))
    assert rows()[0]["expires_at"] is None
    assert data(client.post("/t/staged", headers={"Idempotency-Key": KEY})) == first


def test_what_has_expired_is_swept_and_the_rest_is_not(client: Client) -> None:
    from app.core.outbox import enqueue
    from tests.factories.accounts import run_jobs

    add(client, key="key-of-yesterday")
    _age("49 hours")
    add(client)
    client.post("/t/staged", headers={"Idempotency-Key": KEY})
    with transaction():
        enqueue("idempotency.sweep")
    run_jobs()
    assert sorted(row["operation"] for row in rows()) == ["POST /t/items", "POST /t/staged"]


def _age(span: str) -> None:
    with transaction() as session:
        session.execute(text(f"UPDATE idempotency_key SET expires_at = expires_at - interval '{span}'"))


def test_the_same_files_are_the_same_body_with_any_boundary(client: Client) -> None:
    def upload(content: bytes, title: str = "a", name: str = "x.txt") -> TestResponse:
        form = {"title": title, "file": (BytesIO(content), name)}
        return client.post("/t/files", data=form, headers={"Idempotency-Key": KEY})

    assert upload(b"one").get_json()["data"] == upload(b"one").get_json()["data"] == {"size": 3}
    for other in (upload(b"two"), upload(b"one", "b"), upload(b"one", name="y.txt")):
        assert read_error(other) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert shop.count() == 1


def test_the_table_holds_no_secret(client: Client) -> None:
    data(add(client, "a very secret name"), 201)
    (row,) = rows()
    assert b"secret" not in row["body"] and b"name" not in row["body"]
    import hashlib

    plain = hashlib.sha256(b'{"name":"a very secret name"}').hexdigest()
    assert row["fingerprint"] != plain, "a fingerprint without a key can be guessed at"
    assert "secret" not in str([row[name] for name in ("scope", "operation", "key", "fingerprint")])
