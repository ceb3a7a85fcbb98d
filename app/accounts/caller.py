"""The caller of a request, loaded in one query: a person, a device or an API key."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.accounts.models import TIERS, Account
from app.accounts.permissions import MERCHANT, NOTHING, ORGANISER, PERMISSIONS, Grant, Membership, resolve_grant

PERSON, DEVICE, KEY = "person", "device", "key"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and where they have the permission of the route.

    A device or a key acts for its organisation: `id` is the organisation's account, and `session_id` is the id of the
    device or key. `name` is its own name. `memberships` has those that the caller can use; the caller
    `lacks_second_factor` if an organisation that requires one has others. With a `team_id` they act for this team only.
    """

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
    kind: str = PERSON
    permission: str | None = None
    grant: Grant = NOTHING
    memberships: Sequence[Membership] = ()
    language: str | None = None
    has_second_factor: bool = False
    lacks_second_factor: bool = False
    team_id: str | None = None

    def for_permission(self, permission: str) -> "Caller":
        """The same caller for a route with this permission."""
        return replace(self, permission=permission, grant=self._resolve_grant(permission))

    @property
    def has_permission_everywhere(self) -> bool:
        """Whether the caller has the permission of the route in all organisations, as an admin of its tier or above."""
        return self.permission is not None and self._has_tier_of(self.permission)

    def may(self, permission: str, *, organisation_id: str, event_id: str) -> bool:
        """Whether the caller has the permission, which may be another than that of the route, for this event."""
        if self._has_tier_of(permission):
            return True
        grant = self._resolve_grant(permission)
        return organisation_id in grant.organisation_ids or event_id in grant.event_ids

    def _has_tier_of(self, permission: str) -> bool:
        tier = PERMISSIONS[permission].tier
        return tier is not None and self.has_tier(tier)

    def _resolve_grant(self, permission: str) -> Grant:
        return resolve_grant(permission, self.id, self.roles, self.memberships, self.team_id)

    @property
    def client_id(self) -> str:
        """The account of a person, or else the device or the key: whose limits and idempotency keys count."""
        return self.id if self.kind == PERSON else self.session_id

    @property
    def merchant_id(self) -> str:
        """The merchant for whom the caller acts: their own, or that of their team."""
        return self.grant.merchant_id or self.id

    @property
    def organisation_id(self) -> str:
        """The organisation of what the caller creates: their own, or else the one of their first membership."""
        return self.grant.organisation_ids[0] if self.grant.organisation_ids else self.id

    @property
    def event_scope(self) -> str:
        """The ids of organisations and single events where the caller has the permission, as a PostgreSQL array."""
        return f"{{{','.join(self.grant.organisation_ids + self.grant.event_ids)}}}"

    def has_tier(self, minimum_tier: str) -> bool:
        """Whether the caller is an admin of that tier or above."""
        return self.tier is not None and TIERS.index(self.tier) >= TIERS.index(minimum_tier)


def build_caller(account: Account) -> Caller:
    """A caller for this account without a session, as the owner of its own teams."""
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
        grant=Grant(
            organisation_ids=(account.id,) if ORGANISER in account.roles else (),
            merchant_id=account.id if MERCHANT in account.roles else None,
        ),
    )
