"""One-time codes: verification and password reset."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts import one_time_codes
from app.core.transaction import transaction
from tests.factories.accounts import (
    PASSWORD,
    create_customer,
    create_signed_in_client,
    find_newest_code,
    list_mails_to,
    sign_in,
)
from tests.http import Client, data, read_error
from tests.races import run_concurrently

ADDRESS = "frieda@example.com"
NEW_PASSWORD = "a new and longer password"


def advance_time(interval: str) -> None:
    """Moves all codes and throttle windows into the past."""
    with transaction() as session:
        session.execute(
            text(
                f"UPDATE one_time_code SET sent_at = sent_at - interval '{interval}', "
                f"expires_at = expires_at - interval '{interval}'"
            )
        )
        session.execute(text(f"UPDATE throttle SET ends_at = ends_at - interval '{interval}'"))


def request_code(client: Client, path: str = "resend-verification", email: str = ADDRESS) -> int:
    return client.post(f"/api/auth/{path}", {"email": email}).status_code


def wrong_code(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06d}"


def submit_code(client: Client, code: str, path: str = "verify-email") -> int:
    return client.post(f"/api/auth/{path}", {"email": ADDRESS, "code": code}).status_code


def reset_token(client: Client) -> str:
    assert request_code(client, "password-reset/request") == 200
    code = find_newest_code(ADDRESS)
    return data(client.post("/api/auth/password-reset/verify", {"email": ADDRESS, "code": code}))["resetToken"]


def complete_reset(client: Client, token: str, password: str = NEW_PASSWORD, email: str = ADDRESS) -> tuple[int, str]:
    body = {"email": email, "resetToken": token, "password": password}
    response = client.post("/api/auth/password-reset/complete", body)
    return response.status_code, response.get_json()["shortMessage"]


def test_a_code_works_once(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    code = find_newest_code(ADDRESS)
    assert [submit_code(client, code) for _ in range(2)] == [200, 422]


def test_code_expires_after_ten_minutes(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    code = find_newest_code(ADDRESS)
    advance_time("10 minutes 1 second")
    assert submit_code(client, code) == 422


def test_new_code_after_sixty_seconds_voids_the_old_one(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    first = find_newest_code(ADDRESS)
    refused = client.post("/api/auth/resend-verification", {"email": ADDRESS})
    assert read_error(refused) == (429, "RATE_LIMITED") and 0 < int(refused.headers["Retry-After"]) <= 61
    advance_time("60 seconds")
    assert request_code(client) == 200
    second = find_newest_code(ADDRESS)
    assert first == second or submit_code(client, first) == 422
    assert submit_code(client, second) == 200


def test_ten_codes_a_day(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    for _ in range(10):
        assert request_code(client) == 200
        with transaction() as session:
            session.execute(text("UPDATE one_time_code SET sent_at = sent_at - interval '61 seconds'"))
    assert request_code(client) == 429
    advance_time("1 day")
    assert request_code(client) == 200


def test_code_is_void_after_five_wrong_attempts(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    code = find_newest_code(ADDRESS)
    assert [submit_code(client, wrong_code(code)) for _ in range(5)] == [422] * 5
    assert submit_code(client, code) == 422


def test_concurrent_guesses_count_five_attempts(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    code = find_newest_code(ADDRESS)

    def guess(number: int) -> int:
        body = {"email": ADDRESS, "code": f"{(int(code) + number + 1) % 1_000_000:06d}"}
        network = {"REMOTE_ADDR": f"127.0.0.{1 + number % 4}"}
        return client.post("/api/auth/verify-email", body, environ_base=network).status_code

    assert set(run_concurrently(64, guess)) == {422}
    with transaction() as session:
        assert session.execute(text("SELECT tries FROM one_time_code")).scalar() == 5
    assert submit_code(client, code) == 422


@pytest.mark.control
def test_without_limit_more_attempts_are_checked(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_time_codes, "MAX_ATTEMPTS", 1000)
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    code = find_newest_code(ADDRESS)
    run_concurrently(12, lambda number: submit_code(client, wrong_code(code)))
    assert submit_code(client, code) == 200, "attempts beyond the fifth were checked"


def test_right_code_submitted_concurrently_works_once(client: Client) -> None:
    create_customer(email=ADDRESS)
    assert request_code(client, "password-reset/request") == 200
    code = find_newest_code(ADDRESS)
    statuses = run_concurrently(16, lambda _: submit_code(client, code, "password-reset/verify"))
    assert sorted(statuses) == [200] + [422] * 15


def test_code_is_valid_only_for_its_purpose(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    assert submit_code(client, find_newest_code(ADDRESS), "password-reset/verify") == 422
    assert request_code(client, "password-reset/request") == 200
    assert submit_code(client, find_newest_code(ADDRESS)) == 422


def test_unknown_address_gets_no_mail(client: Client) -> None:
    assert request_code(client, email="nobody@example.com") == 200
    assert request_code(client, "password-reset/request", "nobody@example.com") == 200
    assert list_mails_to("nobody@example.com") == []


def test_verified_address_gets_no_verification_code(client: Client) -> None:
    create_customer(email=ADDRESS)
    assert request_code(client) == 200
    assert list_mails_to(ADDRESS) == []


def test_a_reset_sets_the_password_ends_sessions_and_verifies(client: Client) -> None:
    owner = create_customer(email=ADDRESS, verified=False)
    old_client = create_signed_in_client(client, owner)
    assert complete_reset(client, reset_token(client)) == (200, "SUCCESS")
    assert read_error(old_client.get("/api/auth/me")) == (401, "SESSION_ENDED")
    old = {"email": ADDRESS, "password": PASSWORD}
    assert read_error(client.post("/api/auth/login", old)) == (401, "INVALID_CREDENTIALS")
    me = data(client.as_(sign_in(client, ADDRESS, NEW_PASSWORD)["accessToken"]).get("/api/auth/me"))
    assert me["emailVerified"] is True
    assert "password" in list_mails_to(ADDRESS)[0]["subject"].lower()


def test_reset_token_used_concurrently_works_once(client: Client) -> None:
    create_customer(email=ADDRESS)
    token = reset_token(client)
    responses = run_concurrently(32, lambda number: complete_reset(client, token, f"{NEW_PASSWORD} {number}"))
    assert sorted(responses) == [(200, "SUCCESS")] + [(422, "RESET_TOKEN_INVALID")] * 31


def test_reset_token_is_bound_to_address_and_expires(client: Client) -> None:
    create_customer(email=ADDRESS)
    create_customer(email="other@example.com")
    token = reset_token(client)
    assert complete_reset(client, token, email="other@example.com")[1] == "RESET_TOKEN_INVALID"
    assert complete_reset(client, "x" * 43)[1] == "RESET_TOKEN_INVALID"
    with transaction() as session:
        session.execute(text("UPDATE reset_token SET expires_at = now()"))
    assert complete_reset(client, token)[1] == "RESET_TOKEN_INVALID"


def test_reset_token_is_void_after_a_password_change(client: Client) -> None:
    create_customer(email=ADDRESS)
    first = reset_token(client)
    advance_time("61 seconds")
    second = reset_token(client)
    assert complete_reset(client, second) == (200, "SUCCESS")
    assert complete_reset(client, first)[1] == "RESET_TOKEN_INVALID"


def test_reset_clears_failures_of_the_address(client: Client) -> None:
    create_customer(email=ADDRESS)
    for _ in range(10):
        client.post("/api/auth/login", {"email": ADDRESS, "password": "wrong"})
    assert client.post("/api/auth/login", {"email": ADDRESS, "password": PASSWORD}).status_code == 429
    assert complete_reset(client, reset_token(client)) == (200, "SUCCESS")
    assert sign_in(client, ADDRESS, NEW_PASSWORD)


def test_code_is_not_stored(app: Flask, client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    code = find_newest_code(ADDRESS)
    with transaction() as session:
        stored = session.execute(text("SELECT to_jsonb(one_time_code) FROM one_time_code")).scalar()
        queued = session.execute(text("SELECT to_jsonb(outbox) FROM outbox")).scalar()
    assert code not in str(stored) and code not in str(queued)


def test_repeated_mail_has_the_same_code(client: Client) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert request_code(client) == 200
    first = find_newest_code(ADDRESS)
    with transaction() as session:
        session.execute(text("UPDATE outbox SET state = 'ready', run_at = now()"))
    mails = list_mails_to(ADDRESS)
    assert len(mails) == 2 and find_newest_code(ADDRESS) == first
