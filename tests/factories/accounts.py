"""Accounts for tests, and what was mailed to them."""

import re
from itertools import count
from typing import Any

from app.accounts.models import Account
from app.accounts.passwords import hash_password
from app.accounts.sessions import create_session
from app.clients import dev_mailbox
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from app.web.auth import serialize_sign_in
from tests.http import Client, data
from tests.leaks.ledger import RUN

PASSWORD = "a quiet evening at Sossusvlei"
_numbers = count(1)
_hash: list[str] = []


def account(role: str = "customer", *, email: str | None = None, verified: bool = True, **details: Any) -> Account:
    """An account that is there already, with PASSWORD."""
    if not _hash:
        _hash.append(hash_password(PASSWORD))
    details = {"name": "Frieda Amupolo", "roles": [role], "password_hash": _hash[0], **details}
    if role == "admin":
        details.setdefault("admin_tier", "super_admin")
    with transaction() as session:
        made = Account(email=email or f"{role}{next(_numbers)}@example.com", **details)
        session.add(made)
        session.flush()
        if verified:
            made.email_verified_at = made.created_at
    return made


def customer(**details: Any) -> Account:
    return account("customer", **details)


def sign_in(client: Client, email: str, password: str = PASSWORD) -> dict[str, Any]:
    """What a sign-in answers."""
    return data(client.post("/api/auth/login", {"email": email, "password": password}))


def signed_in(client: Client, who: Account) -> Client:
    """A client with the token of a new session. No password is asked for: to verify one costs more than most tests."""
    with client.flask.application.app_context():
        with transaction() as session:
            begun = create_session(session, who)
        token: str = serialize_sign_in(begun)["access_token"]
    RUN.add(token)
    return client.as_(token)


def deliver() -> None:
    """Does the work that is due, here and now, as a worker would."""
    run_due_jobs(worker="test")


def mails_to(email: str) -> list[dict[str, Any]]:
    """What was mailed to an address, newest first."""
    deliver()
    return [message for message in dev_mailbox.list_messages() if message["to"] == email]


def newest_code(email: str) -> str:
    """The code in the newest mail to an address that has one."""
    text = next(item["text"] for item in mails_to(email) if "code" in item["subject"])
    found = re.search(r"\b(\d{3}) ?(\d{3})\b", text)
    assert found, "no code in the newest mail"
    RUN.add(found[1] + found[2])
    return found[1] + found[2]
