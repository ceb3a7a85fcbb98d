"""Signing in, and what every signed-in request pays for: knowing its caller."""

from __future__ import annotations

import itertools

from app.accounts import sessions
from app.accounts.authentication import hash_password
from app.accounts.models import Account
from app.core.transaction import transaction
from app.web.access import serialize_sign_in
from benchmarks.comparing import kept_during, share_of_hashing
from benchmarks.registry import Load, benchmark
from benchmarks.stage import Stage

PASSWORD = "a quiet evening at Sossusvlei"
_numbers = itertools.count(1)


def account(stage: Stage, role: str = "customer") -> Account:
    """Somebody at the benchmarked service, with PASSWORD."""
    with transaction() as session:
        made = Account(
            email=f"reader{next(_numbers)}@example.com",
            name="Frieda Amupolo",
            roles=[role],
            password_hash=hash_password(PASSWORD),
        )
        session.add(made)
        session.flush()
        made.email_verified_at = made.created_at
    return made


def tokens(who: Account) -> dict[str, str]:
    """Access and refresh token of a new session."""
    with transaction() as session:
        begun = sessions.create_session(session, who)
    found: dict[str, str] = serialize_sign_in(begun)
    return found


@benchmark("me", goal=0.40)
def me(stage: Stage) -> Load:
    """`GET /api/auth/me`: a token, the caller's one query, a small body."""
    return Load("/api/auth/me", headers={"Authorization": f"Bearer {tokens(account(stage))['access_token']}"})


@benchmark("me-in-flood", goal=0.5, measure=kept_during(lambda stage: login(stage)))
def me_in_flood(stage: Stage) -> Load:
    """`GET /api/auth/me` by 4 readers while 8 clients sign in."""
    return me(stage)


@benchmark("refresh", goal=0.28)
def refresh(stage: Stage) -> Load:
    """`POST /api/auth/refresh`: each connection exchanges the token it was just given."""
    owners = [account(stage) for _ in range(stage.clients)]
    return Load(
        "/api/auth/refresh",
        method="POST",
        bodies=[{"refreshToken": tokens(owner)["refresh_token"]} for owner in owners],
        carry="refreshToken",
    )


@benchmark("login", goal=0.60, measure=share_of_hashing)
def login(stage: Stage) -> Load:
    """`POST /api/auth/login`: an argon2id hash, a session, an RS256 signature."""
    owners = [account(stage) for _ in range(stage.clients)]
    return Load("/api/auth/login", method="POST", bodies=[{"email": it.email, "password": PASSWORD} for it in owners])
