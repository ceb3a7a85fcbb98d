"""A request with several errors gets the first one in a fixed order.

401 token, 403 role, 403 verified address, 429 rate, 413, 415, 400 body, 422 fields, 404, 412, 409.
"""

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import pytest

from tests.factories.accounts import create_account, create_signed_in_client
from tests.http import Client, read_error
from tests.web.shop import stock

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Attempt:
    """One request to an operation that refuses for every reason there is."""

    who: str = "merchant"
    item: str = "there"
    body: bytes = b'{"name": "x"}'
    query: str = ""
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))


def no_token(attempt: Attempt) -> Attempt:
    return replace(attempt, who="nobody")


def wrong_role(attempt: Attempt) -> Attempt:
    return attempt if attempt.who == "nobody" else replace(attempt, who="customer")


def not_verified(attempt: Attempt) -> Attempt:
    return attempt if attempt.who in ("nobody", "customer") else replace(attempt, who="unverified")


def too_large(attempt: Attempt) -> Attempt:
    return replace(attempt, body=b" " * (1024 * 1024 + 1))


def other_type(attempt: Attempt) -> Attempt:
    return replace(attempt, headers={**attempt.headers, "Content-Type": "text/csv"})


def malformed(attempt: Attempt) -> Attempt:
    return attempt if len(attempt.body) > 1000 else replace(attempt, body=b"{")


def invalid(attempt: Attempt) -> Attempt:
    return attempt if attempt.body == b"{" or len(attempt.body) > 1000 else replace(attempt, body=b"{}")


def invalid_query(attempt: Attempt) -> Attempt:
    return replace(attempt, query="?shelf=" + "x" * 30)


def elsewhere(attempt: Attempt) -> Attempt:
    return replace(attempt, item="absent")


def stale(attempt: Attempt) -> Attempt:
    return replace(attempt, headers={**attempt.headers, "If-Match": '"77"'})


def nothing(attempt: Attempt) -> Attempt:
    return attempt


ORDER = [
    (no_token, (401, "TOKEN_MISSING")),
    (wrong_role, (403, "ROLE_NOT_ALLOWED")),
    (not_verified, (403, "EMAIL_NOT_VERIFIED")),
    (too_large, (413, "PAYLOAD_TOO_LARGE")),
    (other_type, (415, "UNSUPPORTED_MEDIA_TYPE")),
    (malformed, (400, "MALFORMED_JSON")),
    (invalid, (422, "VALIDATION_FAILED")),
    (invalid_query, (422, "VALIDATION_FAILED")),
    (elsewhere, (404, "NOT_FOUND")),
    (stale, (412, "STALE_VERSION")),
    (nothing, (409, "SHOP_ALREADY_CLOSED")),
]


@pytest.fixture
def callers(client: Client) -> dict[str, Client]:
    return {
        "nobody": client,
        "customer": create_signed_in_client(client, create_account("customer")),
        "unverified": create_signed_in_client(client, create_account("merchant", verified=False)),
        "merchant": create_signed_in_client(client, create_account("merchant")),
    }


def test_every_pair_of_faults_is_answered_in_order(callers: dict[str, Client]) -> None:
    (there,) = stock(1)
    items = {"there": there, "absent": "not-an-id"}

    def sent(attempt: Attempt) -> Any:
        path = f"/t/strict/{items[attempt.item]}{attempt.query}"
        return callers[attempt.who].open("PUT", path, data=attempt.body, headers=attempt.headers)

    for (first, expected), (second, _) in combinations(ORDER, 2):
        attempt = first(second(Attempt()))
        assert read_error(sent(attempt)) == expected, (first.__name__, second.__name__)


def test_an_unknown_path_and_method_come_before_the_token(client: Client) -> None:
    assert read_error(client.get("/t/strict")) == (404, "NOT_FOUND")
    assert read_error(client.get("/t/strict/x")) == (405, "METHOD_NOT_ALLOWED")


def test_a_malformed_version_of_a_missing_object_is_404(client: Client) -> None:
    response = client.patch("/t/items/6565a1f0c3d2e1b0a9f8e7d6", {"name": "x"}, headers={"If-Match": "rubbish"})
    assert read_error(response) == (404, "NOT_FOUND")
