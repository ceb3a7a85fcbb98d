"""The link in a reset mail: a page that sets a password once, whatever was counted against the address."""

import re

from sqlalchemy import text

from app.core.transaction import transaction
from tests.blueprints.test_code_limits import submit_wrong_codes
from tests.blueprints.test_codes import ADDRESS, NEW_PASSWORD, complete_reset, request_code, submit_code
from tests.factories.accounts import create_customer, find_newest_code, list_mails_to, sign_in
from tests.http import Client
from tests.leaks.ledger import RUN
from tests.pages.pages import Visitor
from tests.races import run_concurrently


def reset_link(client: Client) -> str:
    """The path of the link in the mail for ADDRESS, which asks for it."""
    assert request_code(client, "password-reset/request") == 200
    texts = (item["text"] for item in list_mails_to(ADDRESS))
    found = next(filter(None, (re.search(r"https?://[^/]+(/reset-password/link/\S+)", item) for item in texts)))
    RUN.add(found[1].rpartition("/")[2])
    return found[1]


def test_the_link_works_when_codes_are_blocked(client: Client, visitor: Visitor) -> None:
    create_customer(email=ADDRESS)
    submit_wrong_codes(client, "password-reset/verify", 20)
    link = reset_link(client)
    assert submit_code(client, find_newest_code(ADDRESS), "password-reset/verify") == 422
    assert [visitor.open(link).status_code for _ in range(2)] == [200, 200], "opening it uses nothing up"
    page = visitor.send(password=NEW_PASSWORD)
    assert (page.status_code, page.request.path) == (200, "/reset-password/done")
    assert sign_in(client, ADDRESS, NEW_PASSWORD)
    page = visitor.open(link)
    assert page.status_code == 410 and "This link no longer works" in page.text


def test_the_code_of_the_same_mail_ends_with_the_link(client: Client) -> None:
    create_customer(email=ADDRESS)
    token = reset_link(client).rpartition("/")[2]
    code = find_newest_code(ADDRESS)
    assert complete_reset(client, token) == (200, "SUCCESS")
    assert submit_code(client, code, "password-reset/verify") == 422


def test_two_browsers_use_it_once(client: Client, visitor: Visitor) -> None:
    create_customer(email=ADDRESS)
    link = reset_link(client)
    other = Visitor(client.flask.application.test_client())
    for item in (visitor, other):
        item.open(link)
    assert visitor.send(password=NEW_PASSWORD).status_code == 200
    assert other.send(password="another password").status_code == 410
    assert sign_in(client, ADDRESS, NEW_PASSWORD)


def test_a_refused_password_does_not_use_the_link_up(client: Client, visitor: Visitor) -> None:
    create_customer(email=ADDRESS)
    visitor.open(reset_link(client))
    assert visitor.send(password="short").status_code == 422
    assert visitor.send(password=NEW_PASSWORD).status_code == 200


def test_the_link_is_valid_for_ten_minutes_and_stored_hashed(client: Client) -> None:
    create_customer(email=ADDRESS)
    link = reset_link(client)
    with transaction() as session:
        tables = ("reset_token", "one_time_code", "outbox")
        stored = [session.execute(text(f"SELECT jsonb_agg(to_jsonb({it})) FROM {it}")).scalar() for it in tables]
    assert link.rpartition("/")[2] not in str(stored)
    with transaction() as session:
        session.execute(text("UPDATE reset_token SET expires_at = expires_at - interval '10 minutes'"))
    assert client.get(link).status_code == 410
    assert client.get(f"/reset-password/link/{'x' * 43}").status_code == 410


def test_the_link_holds_a_reset_token_of_the_api(client: Client) -> None:
    create_customer(email=ADDRESS)
    assert complete_reset(client, reset_link(client).rpartition("/")[2]) == (200, "SUCCESS")


def test_of_many_at_once_the_link_works_once(client: Client) -> None:
    create_customer(email=ADDRESS)
    token = reset_link(client).rpartition("/")[2]
    answers = run_concurrently(8, lambda number: complete_reset(client, token, f"{NEW_PASSWORD} {number}"))
    assert sorted(answers) == [(200, "SUCCESS")] + [(422, "RESET_TOKEN_INVALID")] * 7
