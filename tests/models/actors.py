"""Two people who want the same address: its owner, who alone reads the mailbox, and an attacker."""

import re
from dataclasses import dataclass, field
from typing import Any

import pyotp
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.core.transaction import transaction
from tests.clients.identity_provider import IdentityProvider
from tests.factories.accounts import list_mails_to
from tests.http import Client

ADDRESS = "frieda@example.com"
KINDS = ("customer", "merchant", "organiser")
LATER = """
    UPDATE one_time_code SET sent_at = sent_at - interval '{0}', expires_at = expires_at - interval '{0}';
    UPDATE throttle SET ends_at = ends_at - interval '{0}';
    UPDATE sign_in_challenge SET expires_at = expires_at - interval '{0}';
    UPDATE address_change SET undo_until = undo_until - interval '{0}';
    UPDATE reset_token SET expires_at = expires_at - interval '{0}';
    UPDATE outbox SET run_at = run_at - interval '{0}' WHERE state = 'ready'
"""
LEFT_BEHIND = """
    SELECT a.id FROM account a
      LEFT JOIN merchant m ON m.account_id = a.id
     WHERE a.retired_at IS NOT NULL
       AND (a.password_hash IS NOT NULL OR a.roles <> '{}' OR m.payout_details IS NOT NULL
            OR EXISTS (SELECT FROM account_session s WHERE s.account_id = a.id AND s.ended_at IS NULL)
            OR EXISTS (SELECT FROM external_identity i WHERE i.account_id = a.id)
            OR EXISTS (SELECT FROM organiser_profile p WHERE p.account_id = a.id)
            OR EXISTS (SELECT FROM merchant_profile p WHERE p.account_id = a.id)
            OR EXISTS (SELECT FROM event e WHERE e.organiser_id = a.id AND e.visibility <> 'cancelled'))
"""
ACTING_IN = """
    SELECT a.id FROM account_session s JOIN account a ON a.id = s.account_id
     WHERE s.id = ANY(:ids) AND s.ended_at IS NULL AND a.email = :email
"""
UNPROVEN_LINKS = """
    SELECT a.id FROM account a JOIN external_identity i ON i.account_id = a.id WHERE a.email_verified_at IS NULL
"""


def later(interval: str) -> None:
    """Lets so much time pass for codes, counts, tokens and work."""
    with transaction() as session:
        session.execute(text(LATER.format(interval)))


def code_mailed(sign: str) -> str | None:
    """The newest code that was mailed for this purpose and greets the owner by name where it must."""
    for mail in list_mails_to(ADDRESS):
        found = re.search(r"\b(\d{3}) ?(\d{3})\b", mail["subject"])
        if found and sign in mail["text"]:
            return found[1] + found[2] if sign != "confirm" or "Frieda" in mail["text"] else None
    return None


def find_address_code(email: str) -> str | None:
    """The code in the newest mail to an address, if that mail is about a new address."""
    newest = next(iter(list_mails_to(email)), None)
    found = re.search(r"(\d{3}) ?(\d{3})", newest["subject"]) if newest else None
    return found[1] + found[2] if newest and found and "use this address" in newest["text"] else None


def find_undo_link() -> str | None:
    """The token of the newest link that restores ADDRESS."""
    texts = [mail["text"] for mail in list_mails_to(ADDRESS)]
    return next((found[1] for item in texts if (found := re.search(r"/undo-address-change/(\S+)", item))), None)


@dataclass
class Actor:
    """What somebody knows and does; `sessions` are the answers of their sign-ins."""

    app: Flask
    google: IdentityProvider
    name: str
    own_address: str
    msisdn: str
    calls: int = 0
    password_number: int = 0
    sessions: list[dict[str, Any]] = field(default_factory=list)
    recovery_codes: list[str] = field(default_factory=list)

    @property
    def password(self) -> str:
        return f"{self.name} knows {self.password_number}"

    def post(self, path: str, body: dict[str, Any], session: dict[str, Any] | None = None) -> TestResponse:
        return self._client(session).post(path, body, environ_base={"REMOTE_ADDR": self._network()})

    def send(self, method: str, path: str, body: Any = None, session: dict[str, Any] | None = None) -> TestResponse:
        return self._client(session).open(method, path, body)

    def register(self, kind: str, session: dict[str, Any] | None = None, name: str | None = None) -> TestResponse:
        """Registers the address with the own password, and the own name if no other is given."""
        name = name or self.name
        names = {"customer": {"firstName": name, "lastName": "A"}}.get(kind, {"name": f"{name} A"})
        more = {"merchant": {"businessName": name}, "organiser": {"orgName": name}}.get(kind, {})
        body = {"email": ADDRESS, "password": self.password, **names, **more}
        return self.post(f"/api/auth/register/{kind}", body, session)

    def take_role(self, kind: str, session: dict[str, Any]) -> None:
        """Adds the role to the account of the session, if it has the address."""
        if session["user"]["email"] == ADDRESS:
            self.register(kind, session)

    def sign_in(self, path: str, body: dict[str, Any], session: dict[str, Any] | None = None) -> TestResponse:
        """Signs in, with a recovery code where one is needed and known, and keeps what that answers."""
        answer = self.post(f"/api/auth/{path}", body, session)
        if answer.get_json()["shortMessage"] == "SECOND_FACTOR_REQUIRED" and self.recovery_codes:
            step = {"challenge": answer.get_json()["data"]["challenge"], "code": self.recovery_codes.pop()}
            answer = self.post("/api/auth/login/second-factor", step)
        if answer.status_code == 200:
            self.sessions.append(answer.get_json()["data"])
        return answer

    def log_in(self) -> TestResponse:
        return self.sign_in("login", {"email": ADDRESS, "password": self.password})

    def use_google(self, email: str, verified: bool, session: dict[str, Any] | None = None) -> TestResponse:
        """Signs in with the own Google account, or links it to the account of a session."""
        token = self.google.token(sub=self.name, email=email, email_verified=verified, name=self.name)
        return self.sign_in("google", {"id_token": token}, session)

    def turn_on_second_factor(self, session: dict[str, Any]) -> bool:
        """Sets up an app for the account of a session, and keeps the recovery codes."""
        begun = self.post("/api/auth/second-factor", {"password": self.password}, session)
        assert begun.status_code in (201, 401, 403, 409, 422, 429), begun.text
        if begun.status_code != 201:
            return False
        code = pyotp.TOTP(begun.get_json()["data"]["secret"]).now()
        confirmed = self.post("/api/auth/second-factor/confirm", {"code": code}, session)
        assert confirmed.status_code == 200, confirmed.text
        self.recovery_codes = confirmed.get_json()["data"]["recoveryCodes"]
        return True

    def change_address(self, email: str, session: dict[str, Any]) -> bool:
        """Moves the account of a session to an address whose mailbox the actor reads."""
        asked = self.post("/api/auth/change-email", {"newEmail": email, "password": self.password}, session)
        assert asked.status_code in (200, 401, 403, 422, 429), asked.text
        code = find_address_code(email) if asked.status_code == 200 else None
        if code is None:
            return False
        confirmed = self.post("/api/auth/change-email/confirm", {"code": code}, session)
        assert confirmed.status_code in (200, 422), confirmed.text
        return confirmed.status_code == 200

    def _client(self, session: dict[str, Any] | None) -> Client:
        client = Client(self.app.test_client())
        return client if session is None else client.as_(session["accessToken"])

    def _network(self) -> str:
        """Each call comes from elsewhere, so that no count of a network stands in the way."""
        self.calls += 1
        return f"127.{1 + len(self.name)}.{self.calls // 250 % 250}.{1 + self.calls % 250}"
