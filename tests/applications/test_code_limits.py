"""How many codes the payment link of one application can send, and to how many wallets."""

import pytest
from flask import Flask
from sqlalchemy import text

from app.applications import stall_payments
from app.core.transaction import transaction
from tests.blueprints.test_stall_fee import make_payable_fee
from tests.factories.applications import LIST
from tests.http import Client, data, read_error
from tests.pages.pages import Visitor


def start_payment(client: Client, path: str, number: int) -> tuple[int, str]:
    """Status and code of the response to a start with this wallet."""
    response = client.post(path, {"payrailMsisdn": f"08125501{number:02}"})
    return (200, "") if response.status_code == 200 else read_error(response)


def test_link_sends_codes_to_five_wallets_a_day(app: Flask, client: Client) -> None:
    path = make_payable_fee(client)
    assert [start_payment(client, path, number)[0] for number in range(6)] == [200] * 5 + [429]
    response = client.post(path, {"payrailMsisdn": "0812550005"})
    assert response.get_json()["message"].startswith("Too many codes were sent for this fee today")
    assert 86_000 < int(response.headers["Retry-After"]) <= 86_400
    visitor = Visitor(app.test_client())
    visitor.open(f"{path.removeprefix(LIST)}?wallet=1")
    page = visitor.send(payrailMsisdn="0812550006")
    assert page.status_code == 429 and "Too many codes were sent for this fee today" in page.text
    assert start_payment(client, path, 0)[0] == 200, "a wallet that had a code can have another one"
    with transaction() as session:
        session.execute(text("UPDATE stall_payment SET created_at = created_at - interval '1 day'"))
    assert start_payment(client, path, 7)[0] == 200


def test_link_sends_ten_codes_a_day(client: Client) -> None:
    path = make_payable_fee(client)
    starts = [start_payment(client, path, number % 4)[0] for number in range(11)]
    assert starts == [200] * 10 + [429]


def test_without_the_limit_a_link_sends_codes_to_everybody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall_payments, "MAX_WALLETS", 100)
    path = make_payable_fee(client)
    assert {start_payment(client, path, number)[0] for number in range(8)} == {200}
    assert data(client.get(path))["status"] == "otp_required"
