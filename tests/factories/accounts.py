"""Accounts for tests, and the mails to them."""

import re
from itertools import count
from typing import Any

from app.accounts.authentication import hash_password
from app.accounts.models import Account
from app.accounts.sessions import create_session
from app.clients import dev_mailbox
from app.core.outbox.executor import run_due_jobs
from app.core.transaction import transaction
from app.web.access import serialize_sign_in
from tests.http import Client, data
from tests.leaks.ledger import RUN

PASSWORD = "a quiet evening at Sossusvlei"
_numbers = count(1)
_password_hashes: list[str] = []


def create_account(
    role: str = "customer", *, email: str | None = None, verified: bool = True, **details: Any
) -> Account:
    """A new account with PASSWORD."""
    if not _password_hashes:
        _password_hashes.append(hash_password(PASSWORD))
    details = {"name": "Frieda Amupolo", "roles": [role], "password_hash": _password_hashes[0], **details}
    if role == "admin":
        details.setdefault("admin_tier", "super_admin")
    with transaction() as session:
        new_account = Account(email=email or f"{role}{next(_numbers)}@example.com", **details)
        session.add(new_account)
        session.flush()
        if verified:
            new_account.email_verified_at = new_account.created_at
    return new_account


def create_customer(**details: Any) -> Account:
    return create_account("customer", **details)


def sign_in(client: Client, email: str, password: str = PASSWORD) -> dict[str, Any]:
    """The data of the response to a sign-in."""
    return data(client.post("/api/auth/login", {"email": email, "password": password}))


def create_signed_in_client(client: Client, owner: Account) -> Client:
    """A client with the token of a new session. It skips the password, which takes long to verify."""
    with client.flask.application.app_context():
        with transaction() as session:
            login_result = create_session(session, owner)
        token: str = serialize_sign_in(login_result)["access_token"]
    RUN.add(token)
    return client.as_(token)


def run_jobs() -> None:
    """Runs the jobs that are due, like a worker."""
    run_due_jobs(worker="test")


def list_mails_to(email: str) -> list[dict[str, Any]]:
    """The mails to an address, newest first."""
    run_jobs()
    return [message for message in dev_mailbox.list_messages() if message["to"] == email]


def find_newest_code(email: str) -> str:
    """The code in the newest mail with a code."""
    text = next(mail["text"] for mail in list_mails_to(email) if "code" in mail["subject"])
    match = re.search(r"\b(\d{3}) ?(\d{3})\b", text)
    assert match, "no code in the newest mail"
    RUN.add(match[1] + match[2])
    return match[1] + match[2]
