"""Changing the address of an account, and undoing the change by the link in the mail to the old address."""

import re
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.accounts import actions, one_time_codes, queries
from app.accounts.actions import address_change
from app.accounts.models import Account
from app.core.db import db
from app.core.errors import LinkExpired, NotFound
from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_customer,
    create_signed_in_client,
    find_newest_code,
    list_mails_to,
    run_jobs,
    sign_in,
)
from tests.factories.second_factors import turn_on
from tests.http import Client, data, list_problems, read_error
from tests.models.actors import later
from tests.races import run_concurrently
from tests.unguarded import without_rules

OLD, NEW, OTHER = "frieda@example.com", "nangolo@example.com", "mallory@evil.example"
PATH = "/api/auth/change-email"


@pytest.fixture
def owner(app: Flask) -> Account:
    return create_customer(email=OLD)


@pytest.fixture
def me(client: Client, owner: Account) -> Client:
    return create_signed_in_client(client, owner)


def request_change(me: Client, email: str = NEW) -> Any:
    return me.post(PATH, {"newEmail": email, "password": PASSWORD})


def change(me: Client, email: str = NEW) -> None:
    data(request_change(me, email))
    data(me.post(f"{PATH}/confirm", {"code": find_newest_code(email)}))


def find_undo_token(email: str = OLD) -> str:
    texts = [mail["text"] for mail in list_mails_to(email)]
    return next(match[1] for match in (re.search(r"/undo-address-change/(\S+)", item) for item in texts) if match)


def move_changes(interval: str) -> None:
    with transaction() as session:
        session.execute(text(f"UPDATE address_change SET undo_until = undo_until - interval '{interval}'"))


def count_accounts(email: str) -> int:
    return db.session.scalar(text("SELECT count(*) FROM account WHERE email = :email"), {"email": email}) or 0


def test_code_from_the_new_mailbox_changes_the_address(client: Client, me: Client) -> None:
    change(me)
    assert data(me.get("/api/auth/me"))["email"] == NEW
    assert sign_in(client, NEW)
    assert client.post("/api/auth/login", {"email": OLD, "password": PASSWORD}).status_code == 401
    assert "new e-mail address" in list_mails_to(OLD)[0]["subject"] and NEW not in list_mails_to(OLD)[0]["text"]


def test_other_sessions_end(client: Client, me: Client, owner: Account) -> None:
    other = create_signed_in_client(client, owner)
    change(me)
    assert read_error(other.get("/api/auth/me")) == (401, "SESSION_ENDED")
    data(me.get("/api/auth/me"))


def test_reset_tokens_of_the_old_address_die(client: Client, me: Client) -> None:
    client.post("/api/auth/password-reset/request", {"email": OLD})
    verified = {"email": OLD, "code": find_newest_code(OLD)}
    token = data(client.post("/api/auth/password-reset/verify", verified))["resetToken"]
    link = next(re.search(r"/link/(\S+)", mail["text"]) for mail in list_mails_to(OLD) if "/link/" in mail["text"])
    assert link
    change(me)
    for email in (OLD, NEW):
        body = {"email": email, "resetToken": token, "password": "another evening at Sesriem"}
        response = client.post("/api/auth/password-reset/complete", body)
        assert read_error(response) == (422, "RESET_TOKEN_INVALID")
    assert client.get(f"/reset-password/link/{link[1]}").status_code == 410


def test_wrong_password_changes_nothing_and_mails_nobody(me: Client) -> None:
    response = me.post(PATH, {"newEmail": NEW, "password": "wrong"})
    assert read_error(response) == (422, "CURRENT_PASSWORD_WRONG")
    assert list_problems(me.post(PATH, {"newEmail": NEW})) == {"password": "required"}
    assert list_problems(request_change(me, OLD)) == {"newEmail": "unchanged"}
    assert list_mails_to(NEW) == []


def test_known_and_unknown_addresses_get_the_same_response(me: Client) -> None:
    create_customer(email=OTHER)
    responses = [request_change(me, email).get_json() for email in (NEW, OTHER)]
    for body in responses:
        del body["timestamp"], body["requestId"]
    assert responses[0] == responses[1]
    assert "already has an account" in list_mails_to(OTHER)[0]["subject"]
    assert not re.search(r"\b\d{3} ?\d{3}\b", list_mails_to(OTHER)[0]["text"])


def test_code_of_a_known_address_does_not_take_it(me: Client) -> None:
    create_customer(email=OTHER)
    data(request_change(me, OTHER))
    assert read_error(me.post(f"{PATH}/confirm", {"code": compute_code(OTHER)})) == (422, "CODE_INVALID")
    assert count_accounts(OTHER) == 1 and data(me.get("/api/auth/me"))["email"] == OLD


def compute_code(email: str) -> str:
    nonce = db.session.scalar(
        text("SELECT nonce FROM one_time_code WHERE purpose = 'change_email' AND email = :email"), {"email": email}
    )
    db.session.remove()
    return one_time_codes.compute_code(one_time_codes.CHANGE_EMAIL, email, str(nonce))


def test_unverified_account_of_a_stranger_does_not_block_the_address(client: Client, me: Client) -> None:
    stranger = create_signed_in_client(client, create_customer(email=NEW, verified=False))
    change(me)
    assert read_error(stranger.get("/api/auth/me")) == (401, "SESSION_ENDED")
    assert data(me.get("/api/auth/me"))["email"] == NEW


def test_five_wrong_codes_void_the_right_one(me: Client) -> None:
    data(request_change(me))
    code = find_newest_code(NEW)
    wrong = "000000" if code != "000000" else "111111"
    for _ in range(5):
        assert read_error(me.post(f"{PATH}/confirm", {"code": wrong})) == (422, "CODE_INVALID")
    assert read_error(me.post(f"{PATH}/confirm", {"code": code})) == (422, "CODE_INVALID")


def test_code_of_one_account_works_for_no_other_without_a_request(client: Client, me: Client) -> None:
    data(request_change(me))
    other = create_signed_in_client(client, create_customer())
    response = other.post(f"{PATH}/confirm", {"code": find_newest_code(NEW)})
    assert read_error(response) == (422, "CODE_INVALID")


def test_new_password_voids_the_request(me: Client) -> None:
    data(request_change(me))
    new = {"currentPassword": PASSWORD, "newPassword": "another evening at Sesriem"}
    data(me.post("/api/auth/change-password", new))
    assert read_error(me.post(f"{PATH}/confirm", {"code": find_newest_code(NEW)})) == (422, "CODE_INVALID")


def test_requests_to_one_address_wait_a_minute(me: Client) -> None:
    data(request_change(me))
    assert read_error(request_change(me)) == (429, "RATE_LIMITED")


def test_account_may_ask_for_ten_addresses_a_day(me: Client) -> None:
    for number in range(10):
        data(request_change(me, f"new{number}@example.com"))
    assert read_error(request_change(me, "new10@example.com")) == (429, "RATE_LIMITED")


def test_unverified_account_may_ask_three_times(client: Client, app: Flask) -> None:
    me = create_signed_in_client(client, create_customer(verified=False))
    for number in range(3):
        data(request_change(me, f"new{number}@example.com"))
    assert read_error(request_change(me, "new3@example.com")) == (403, "EMAIL_NOT_VERIFIED")


def test_unverified_address_gets_no_link_and_stays_free(client: Client, app: Flask) -> None:
    me = create_signed_in_client(client, create_customer(email=OLD, verified=False))
    change(me)
    assert data(me.get("/api/auth/me"))["emailVerified"] is True
    assert list_mails_to(OLD) == []
    register(client, OLD)
    assert count_accounts(OLD) == 1


def register(client: Client, email: str) -> Any:
    body = {"email": email, "password": PASSWORD, "firstName": "Somebody", "lastName": "New"}
    response = client.post("/api/auth/register/customer", body)
    assert response.status_code == 201
    return response


def test_old_address_is_reserved_for_seven_days(client: Client, me: Client) -> None:
    change(me)
    register(client, OLD)
    assert count_accounts(OLD) == 0
    assert "in a few days" in list_mails_to(OLD)[0]["subject"]
    other = create_signed_in_client(client, create_customer())
    later("61 seconds")
    data(request_change(other, OLD))
    assert read_error(other.post(f"{PATH}/confirm", {"code": compute_code(OLD)})) == (422, "CODE_INVALID")
    move_changes("7 days")
    later("61 seconds")
    register(client, OLD)
    assert count_accounts(OLD) == 1


def test_undo_restores_the_old_address_and_locks_everybody_out(client: Client, me: Client) -> None:
    change(me)
    assert actions.undo_address_change(token=find_undo_token()) == OLD
    assert read_error(me.get("/api/auth/me")) == (401, "SESSION_ENDED")
    for email in (OLD, NEW):
        assert client.post("/api/auth/login", {"email": email, "password": PASSWORD}).status_code == 401
    link = next(re.search(r"/link/(\S+)", mail["text"]) for mail in list_mails_to(OLD) if "/link/" in mail["text"])
    assert link
    body = {"email": OLD, "resetToken": link[1], "password": "another evening at Sesriem"}
    data(client.post("/api/auth/password-reset/complete", body))
    assert sign_in(client, OLD, body["password"])
    assert "restored" in list_mails_to(NEW)[0]["subject"]


def test_undo_works_once_and_for_seven_days(me: Client) -> None:
    change(me)
    token = find_undo_token()
    move_changes("7 days")
    with pytest.raises(LinkExpired):
        actions.undo_address_change(token=token)
    move_changes("-7 days")
    actions.undo_address_change(token=token)
    with pytest.raises(LinkExpired):
        actions.undo_address_change(token=token)
    with pytest.raises(NotFound):
        actions.undo_address_change(token="x" * 43)


def test_undo_undoes_a_second_change_too(me: Client) -> None:
    change(me)
    later("61 seconds")
    change(me, OTHER)
    first, second = find_undo_token(), find_undo_token(NEW)
    assert actions.undo_address_change(token=first) == OLD
    with pytest.raises(LinkExpired):
        actions.undo_address_change(token=second)


def test_undo_of_the_second_change_leaves_the_first_open(me: Client) -> None:
    change(me)
    later("61 seconds")
    change(me, OTHER)
    assert actions.undo_address_change(token=find_undo_token(NEW)) == NEW
    assert actions.undo_address_change(token=find_undo_token()) == OLD


def test_returning_to_the_old_address_gives_the_other_no_link(me: Client) -> None:
    """Otherwise a person who held the account for a while could take it back from its owner."""
    change(me, OTHER)
    token = find_undo_token()
    later("61 seconds")
    change(me, OLD)
    with pytest.raises(LinkExpired):
        actions.undo_address_change(token=token)
    assert not any("undo-address-change" in mail["text"] for mail in list_mails_to(OTHER))
    assert "restored" in list_mails_to(OTHER)[0]["subject"]


def test_undo_turns_off_a_second_factor_that_came_later(client: Client, me: Client, owner: Account) -> None:
    change(me)
    turn_on(owner)
    actions.undo_address_change(token=find_undo_token())
    db.session.remove()
    account = queries.find_account_by_email(OLD)
    assert account is not None and account.second_factor_since is None


def test_undo_keeps_an_earlier_second_factor(me: Client, owner: Account) -> None:
    turn_on(owner)
    change(me)
    actions.undo_address_change(token=find_undo_token())
    db.session.remove()
    account = queries.find_account_by_email(OLD)
    assert account is not None and account.second_factor_since is not None


def test_undo_used_concurrently_works_once(app: Flask, me: Client) -> None:
    change(me)
    token = find_undo_token()

    def undo(_: int) -> str:
        with app.app_context():
            try:
                return actions.undo_address_change(token=token)
            except LinkExpired:
                return "expired"
            except Exception as error:
                return type(error).__name__

    results = run_concurrently(8, undo)
    assert results.count(OLD) == 1 and set(results) <= {OLD, "expired", "Busy"}


def race_with_registration(app: Flask, client: Client, me: Client) -> None:
    """Confirms a change while several others register the same address."""
    data(request_change(me))
    code = find_newest_code(NEW)
    later("61 seconds")

    def act(number: int) -> int:
        if number == 0:
            return me.post(f"{PATH}/confirm", {"code": code}).status_code
        body = {"email": NEW, "password": PASSWORD, "firstName": "Somebody", "lastName": "New"}
        return client.post("/api/auth/register/customer", body).status_code

    statuses = run_concurrently(6, act)
    assert statuses[0] in (200, 422) and set(statuses[1:]) <= {201, 500}


def test_change_confirmed_while_others_register_leaves_one_account(app: Flask, client: Client, me: Client) -> None:
    race_with_registration(app, client, me)
    assert count_accounts(NEW) == 1
    assert data(me.get("/api/auth/me"))["email"] == NEW
    run_jobs()


@pytest.mark.control
def test_without_lock_and_constraint_two_accounts_get_the_address(
    app: Flask, client: Client, me: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other account is inserted after the change has found the address free, as a registration without the lock."""
    checked, registered = Event(), Event()
    set_address = address_change._set_address

    def set_address_late(session: Session, account: Account, email: str) -> None:
        checked.set()
        registered.wait(30)
        set_address(session, account, email)

    monkeypatch.setattr(address_change, "_set_address", set_address_late)
    data(request_change(me))
    code = find_newest_code(NEW)

    def act(number: int) -> None:
        if number == 0:
            data(me.post(f"{PATH}/confirm", {"code": code}))
            return
        with app.app_context():
            checked.wait(30)
            create_customer(email=NEW, verified=False)
            registered.set()

    with without_rules("uq_account_email"):
        run_concurrently(2, act)
        assert count_accounts(NEW) == 2
