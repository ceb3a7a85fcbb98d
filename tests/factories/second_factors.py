"""Second factors for tests: an authenticator app and recovery codes."""

import time
from dataclasses import dataclass
from typing import Any

import pyotp
from sqlalchemy import text

from app.accounts import second_factor
from app.accounts.models import Account
from app.accounts.own_account_models import SecondFactor
from app.core.transaction import transaction
from tests.factories.accounts import PASSWORD
from tests.http import Client, read_error


@dataclass(frozen=True)
class App:
    """The authenticator app of an account, and its recovery codes."""

    account_id: str
    secret: str
    recovery_codes: list[str]

    def code(self, steps_later: int = 0) -> str:
        """The code that the app shows now, or so many steps later."""
        return pyotp.TOTP(self.secret).at(time.time() + 30 * steps_later)

    def wrong_code(self) -> str:
        """A code that the app does not show around now."""
        near = {self.code(offset) for offset in range(-3, 4)}
        return next(code for code in ("000000", "111111", "222222") if code not in near)


def turn_on(owner: Account) -> App:
    """Turns the second factor of an account on."""
    secret = pyotp.random_base32()
    with transaction() as session:
        account = session.get_one(Account, owner.id)
        session.add(SecondFactor(account_id=owner.id, secret=second_factor.encrypt_secret(owner.id, secret)))
        session.execute(text("UPDATE account SET second_factor_since = now() WHERE id = :id"), {"id": account.id})
        return App(owner.id, secret, second_factor.replace_recovery_codes(session, owner.id))


def forget_used_codes() -> None:
    """Lets codes of the app that were used be used again, as if time had passed."""
    with transaction() as session:
        session.execute(text("UPDATE second_factor SET last_step = NULL"))


def get_challenge(client: Client, owner: Account, password: str = PASSWORD) -> str:
    """The challenge of a sign-in with the password."""
    response = client.post("/api/auth/login", {"email": owner.email, "password": password})
    assert read_error(response) == (401, "SECOND_FACTOR_REQUIRED")
    challenge: str = response.get_json()["data"]["challenge"]
    return challenge


def send_code(client: Client, challenge: str, code: str) -> Any:
    return client.post("/api/auth/login/second-factor", {"challenge": challenge, "code": code})
