"""The caller of a request, loaded in one query."""

from dataclasses import dataclass

from app.accounts.models import TIERS, Account

LANGUAGES = ("en", "af", "de")
"""The languages that a person can choose for pages and mails."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A signed-in account and its session."""

    id: str
    session_id: str
    email: str
    name: str
    phone: str | None
    email_verified: bool
    roles: frozenset[str]
    tier: str | None
    title: str | None
    version: int
    language: str | None = None
    has_second_factor: bool = False

    def has_tier(self, minimum_tier: str) -> bool:
        """Whether the caller is an admin of that tier or above."""
        return self.tier is not None and TIERS.index(self.tier) >= TIERS.index(minimum_tier)


def build_caller(account: Account) -> Caller:
    """A caller for this account without a session, for demo data."""
    return Caller(
        id=account.id,
        session_id="",
        email=account.email,
        name=account.name,
        phone=account.phone,
        email_verified=account.email_verified_at is not None,
        roles=frozenset(account.roles),
        tier=account.admin_tier,
        title=account.admin_title,
        version=account.version,
        language=account.language,
        has_second_factor=account.second_factor_since is not None,
    )
