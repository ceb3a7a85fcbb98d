"""Wrong codes: which of them count, and what stays open when they are blocked."""

import pytest
from sqlalchemy import text

from app.core.transaction import transaction
from tests.blueprints.test_codes import ADDRESS, asked, tried, wrong
from tests.factories.accounts import customer, mails_to, newest_code
from tests.http import Client

ASKING = {"verify-email": "resend-verification", "password-reset/verify": "password-reset/request"}


def wrong_tries(client: Client, what: str, count: int) -> None:
    """So many wrong tries at living codes, each code being burned by five."""
    for _ in range(count // 5):
        assert asked(client, ASKING[what]) == 200
        code = newest_code(ADDRESS)
        assert {tried(client, wrong(code), what) for _ in range(5)} == {422}
        with transaction() as session:
            session.execute(text("UPDATE one_time_code SET sent_at = sent_at - interval '61 seconds'"))


@pytest.mark.parametrize("what", ASKING)
def test_attempts_without_a_valid_code_do_not_count(client: Client, what: str) -> None:
    customer(email=ADDRESS, verified=False)
    assert {tried(client, f"{number:06d}", what) for number in range(25)} == {422}
    assert asked(client, ASKING[what]) == 200
    assert tried(client, newest_code(ADDRESS), what) == 200


@pytest.mark.parametrize("what", ASKING)
def test_twenty_wrong_codes_block_and_owner_is_notified_once(client: Client, what: str) -> None:
    customer(email=ADDRESS, verified=False)
    wrong_tries(client, what, 20)
    assert asked(client, ASKING[what]) == 200
    code = newest_code(ADDRESS)
    assert [tried(client, code, what) for _ in range(2)] == [422, 422]
    told = [item for item in mails_to(ADDRESS) if "blocked" in item["subject"]]
    assert len(told) == 1 and "20 wrong codes" in told[0]["text"] and "/reset-password" in told[0]["text"]
