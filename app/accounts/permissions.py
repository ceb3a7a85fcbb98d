"""Who may do what: each permission, and the team roles, devices and scopes of API keys that have it.

A caller has permissions in teams. An organiser's account and a merchant's account are teams of the same id. Their owner
has every permission of the team; members, devices and keys have those of their role, kind or scopes. Admins have the
permissions whose tier they reach, in all organisations.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.core.languages import mark_for_translation

ORGANISER, MERCHANT = "organiser", "merchant"
OWNER, MANAGER, FINANCE, DOOR, STOCK, MESSAGES, VIEWER = (
    "owner",
    "manager",
    "finance",
    "door",
    "stock",
    "messages",
    "viewer",
)
CASHIER = "cashier"

EVENTS_READ, EVENTS_WRITE = "events.read", "events.write"
GUESTS_READ, GUESTS_WRITE = "guests.read", "guests.write"
GATE_READ, GATE_ADMIT = "gate.read", "gate.admit"
STOCK_READ, STOCK_WRITE, STOCK_REMINDERS = "stock.read", "stock.write", "stock.reminders"
STALLS_READ, STALLS_INVITE, STALLS_DECIDE = "stalls.read", "stalls.invite", "stalls.decide"
MESSAGES_READ, MESSAGES_WRITE = "messages.read", "messages.write"
MONEY_READ, MONEY_WRITE = "money.read", "money.write"
DEVICES = "devices"
MEMBERS_READ, MEMBERS_WRITE = "members.read", "members.write"
KEYS, AUDIT_READ = "keys", "audit.read"
STALL_READ, STALL_RUN, STALL_MONEY, STALL_MANAGE, STALL_OWN = (
    "stall.read",
    "stall.run",
    "stall.money",
    "stall.manage",
    "stall.own",
)

ALL_ORGANISER_ROLES = f"{OWNER} {MANAGER} {FINANCE} {DOOR} {STOCK} {MESSAGES} {VIEWER}"


class Permission(NamedTuple):
    """The team roles that have a permission, the lowest admin tier (None: no admin), and the kinds of devices."""

    kind: str
    roles: frozenset[str]
    tier: str | None
    devices: frozenset[str]


def _organiser(roles: str, tier: str | None, devices: str = "") -> Permission:
    return Permission(ORGANISER, frozenset(roles.split()), tier, frozenset(devices.split()))


def _merchant(roles: str) -> Permission:
    return Permission(MERCHANT, frozenset(roles.split()), None, frozenset())


PERMISSIONS: dict[str, Permission] = {
    EVENTS_READ: _organiser(ALL_ORGANISER_ROLES, "analyst", "gate stock"),
    EVENTS_WRITE: _organiser("owner manager", "admin"),
    GUESTS_READ: _organiser("owner manager finance viewer", "analyst"),
    GUESTS_WRITE: _organiser("owner manager", "admin"),
    GATE_READ: _organiser("owner manager door viewer", "analyst", "gate"),
    GATE_ADMIT: _organiser("owner manager door", "admin", "gate"),
    STOCK_READ: _organiser("owner manager finance stock viewer", "analyst", "stock"),
    STOCK_WRITE: _organiser("owner manager stock", "admin", "stock"),
    STOCK_REMINDERS: _organiser("owner manager", "admin"),
    STALLS_READ: _organiser("owner manager finance viewer", "analyst"),
    STALLS_INVITE: _organiser("owner manager", "admin"),
    STALLS_DECIDE: _organiser("owner manager", "support"),
    MESSAGES_READ: _organiser("owner manager messages viewer", "analyst"),
    MESSAGES_WRITE: _organiser("owner manager messages", "admin"),
    MONEY_READ: _organiser("owner manager finance", "analyst"),
    MONEY_WRITE: _organiser("owner manager finance", "admin"),
    DEVICES: _organiser("owner manager", "admin"),
    MEMBERS_READ: _organiser("owner manager", None),
    MEMBERS_WRITE: _organiser("owner", None),
    KEYS: _organiser("owner", None),
    AUDIT_READ: _organiser("owner manager finance", "analyst"),
    STALL_READ: _merchant("owner manager cashier"),
    STALL_RUN: _merchant("owner manager cashier"),
    STALL_MONEY: _merchant("owner manager"),
    STALL_MANAGE: _merchant("owner manager"),
    STALL_OWN: _merchant("owner"),
}

ROLES = {ORGANISER: tuple(ALL_ORGANISER_ROLES.split()), MERCHANT: (OWNER, MANAGER, CASHIER)}
DEVICE_KINDS = ("gate", "stock")
SCOPES: dict[str, tuple[str, ...]] = {
    "events:read": (EVENTS_READ,),
    "events": (EVENTS_READ, EVENTS_WRITE),
    "guests:read": (GUESTS_READ,),
    "guests": (GUESTS_READ, GUESTS_WRITE),
    "gate": (GATE_READ, GATE_ADMIT, EVENTS_READ),
    "stock:read": (STOCK_READ, EVENTS_READ),
    "stock": (STOCK_READ, STOCK_WRITE, EVENTS_READ),
    "stalls:read": (STALLS_READ,),
    "messages:read": (MESSAGES_READ,),
    "money:read": (MONEY_READ,),
    "audit:read": (AUDIT_READ,),
}
"""The scopes of API keys. No scope covers sending messages, deciding about stalls, members, devices or keys."""


class Membership(NamedTuple):
    """A place in a team. `event_ids` limits it to some events.

    A device has one of kind "device" with its kind as the role, a key one of kind "key" with its scopes as the role.
    """

    team_id: str
    kind: str
    role: str
    event_ids: Sequence[str] | None
    requires_second_factor: bool = False


class Grant(NamedTuple):
    """Where a caller has the permission of a route: whole organisations, single events, and one merchant."""

    organisation_ids: tuple[str, ...] = ()
    event_ids: tuple[str, ...] = ()
    merchant_id: str | None = None

    def __bool__(self) -> bool:
        return bool(self.organisation_ids or self.event_ids or self.merchant_id)


NOTHING = Grant()


def resolve_grant(
    permission: str,
    account_id: str,
    account_roles: Iterable[str],
    memberships: Iterable[Membership],
    team_id: str | None = None,
) -> Grant:
    """Return where the account has the permission, by its own roles and its memberships, or only in the given team.

    Nobody acts for two merchants at once: without a team it is their own, or else the first that they have joined.
    """
    kind = PERMISSIONS[permission].kind
    own_id = account_id if kind in account_roles and team_id in (None, account_id) else None
    entries = [entry for entry in memberships if team_id in (None, entry.team_id)]
    if kind == MERCHANT:
        joined = next((entry for entry in entries if entry.kind == MERCHANT), None)
        joined_id = joined.team_id if joined is not None and _is_granted(permission, joined) else None
        return Grant(merchant_id=own_id or joined_id)
    granted = [entry for entry in entries if _is_granted(permission, entry)]
    whole_teams = (entry.team_id for entry in granted if entry.event_ids is None)
    return Grant(
        organisation_ids=(own_id, *whole_teams) if own_id else tuple(whole_teams),
        event_ids=tuple(event_id for entry in granted for event_id in entry.event_ids or ()),
    )


def _is_granted(permission: str, membership: Membership) -> bool:
    kind, team_roles, _, devices = PERMISSIONS[permission]
    if membership.kind == "device":
        return membership.role in devices
    if membership.kind == "key":
        return permission in list_scope_permissions(membership.role.split())
    return membership.kind == kind and membership.role in team_roles


def list_scope_permissions(scopes: Iterable[str]) -> frozenset[str]:
    """Return the permissions of an API key with these scopes."""
    return frozenset(permission for scope in scopes for permission in SCOPES[scope])


def describe_role(role: str) -> str:
    """Return the role in words for people: "a member of the door staff"."""
    return _NAMES[role]


def describe_holders(permission: str) -> str:
    """Return who has the permission, in words: "owners and managers of the organisation"."""
    kind, roles, tier, _ = PERMISSIONS[permission]
    names = [_PLURALS[role] for role in ROLES[kind] if role in roles]
    team = "organisation" if kind == ORGANISER else "merchant"
    holders = f"{_join(names)} of the {team}"
    return f"{holders}, and {_TIERS[tier]}" if tier else holders


_NAMES = {
    OWNER: mark_for_translation("the owner"),
    MANAGER: mark_for_translation("a manager"),
    FINANCE: mark_for_translation("a member of the finance staff"),
    DOOR: mark_for_translation("a member of the door staff"),
    STOCK: mark_for_translation("a member of the stock staff"),
    MESSAGES: mark_for_translation("a member of the messages staff"),
    VIEWER: mark_for_translation("a viewer"),
    CASHIER: mark_for_translation("a cashier"),
}
_PLURALS = {
    OWNER: "owners",
    MANAGER: "managers",
    FINANCE: "finance staff",
    DOOR: "door staff",
    STOCK: "stock staff",
    MESSAGES: "messages staff",
    VIEWER: "viewers",
    CASHIER: "cashiers",
}
_TIERS = {
    "analyst": "admins of every tier",
    "support": "admins of tier support or higher",
    "admin": "admins of tier admin or super_admin",
}


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
