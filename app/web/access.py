"""The access rules of routes. Each route must declare one."""

from dataclasses import dataclass, replace

from app.accounts.models import TIERS as TIERS


@dataclass(frozen=True)
class Access:
    """The roles and the lowest admin tier that may call a route; with neither, everybody who is signed in may.

    `tier` is None if admins may not call. `optional` means public, but a token identifies the caller.
    `needs_verified_email` requires a verified email address. The document publishes `name`.
    """

    name: str
    public: bool = False
    optional: bool = False
    roles: frozenset[str] = frozenset()
    tier: str | None = None
    needs_verified_email: bool = False

    def allows(self, roles: frozenset[str], tier: str | None) -> bool:
        """Whether an account with these roles and this admin tier may call."""
        if not self.roles and self.tier is None:
            return True
        if self.roles & roles:
            return True
        return self.tier is not None and tier is not None and TIERS.index(tier) >= TIERS.index(self.tier)

    def with_verified_email(self) -> "Access":
        """Return the same rule for callers with a verified email address."""
        return replace(self, needs_verified_email=True)


PUBLIC = Access("anybody", public=True)
PUBLIC_OR_SIGNED_IN = Access("anybody; a token adds to the account it belongs to", public=True, optional=True)
SIGNED_IN = Access("anybody signed in")
MERCHANT = Access("merchants", roles=frozenset({"merchant"}))
ORGANISER = Access("organisers, for their own events, and admins", roles=frozenset({"organiser"}), tier="admin")
ORGANISER_OR_ANALYST = Access(
    "organisers, for their own events, and admins of every tier",
    roles=frozenset({"organiser"}),
    tier="analyst",
)
ORGANISER_OR_SUPPORT = Access(
    "organisers, for their own events, and admins from support on",
    roles=frozenset({"organiser"}),
    tier="support",
)
APPLICATION_READERS = Access(
    "merchants for their own, organisers for those to their events, and admins of every tier",
    roles=frozenset({"merchant", "organiser"}),
    tier="analyst",
)
ADMIN = Access("admins", tier="admin")
VERIFIED_ORGANISER = ORGANISER.with_verified_email()
VERIFIED_ORGANISER_OR_SUPPORT = ORGANISER_OR_SUPPORT.with_verified_email()
VERIFIED_MERCHANT = MERCHANT.with_verified_email()
