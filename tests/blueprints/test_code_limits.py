"""The daily limit of wrong codes: what counts, and what the owner of the address gets."""

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from tests.blueprints.test_codes import ADDRESS, request_code, submit_code, wrong_code
from tests.factories.accounts import create_customer, find_newest_code, list_mails_to
from tests.http import Client

REQUEST_PATHS = {"verify-email": "resend-verification", "password-reset/verify": "password-reset/request"}


def submit_wrong_codes(client: Client, path: str, count: int) -> None:
    """Submits this many wrong codes, five for each valid code."""
    for _ in range(count // 5):
        assert request_code(client, REQUEST_PATHS[path]) == 200
        code = find_newest_code(ADDRESS)
        assert {submit_code(client, wrong_code(code), path) for _ in range(5)} == {422}
        with transaction() as session:
            session.execute(text("UPDATE one_time_code SET sent_at = sent_at - interval '61 seconds'"))


@pytest.mark.parametrize("path", REQUEST_PATHS)
def test_attempts_without_a_valid_code_do_not_count(client: Client, path: str) -> None:
    create_customer(email=ADDRESS, verified=False)
    assert {submit_code(client, f"{number:06d}", path) for number in range(25)} == {422}
    assert request_code(client, REQUEST_PATHS[path]) == 200
    assert submit_code(client, find_newest_code(ADDRESS), path) == 200


@pytest.mark.parametrize("path", REQUEST_PATHS)
def test_twenty_wrong_codes_block_and_owner_is_notified_once(client: Client, path: str) -> None:
    create_customer(email=ADDRESS, verified=False)
    submit_wrong_codes(client, path, 20)
    assert request_code(client, REQUEST_PATHS[path]) == 200
    code = find_newest_code(ADDRESS)
    assert [submit_code(client, code, path) for _ in range(2)] == [422, 422]
    blocked_mails = [item for item in list_mails_to(ADDRESS) if "blocked" in item["subject"]]
    assert (
        len(blocked_mails) == 1
        and "20 wrong codes" in blocked_mails[0]["text"]
        and "/reset-password" in blocked_mails[0]["text"]
    )
