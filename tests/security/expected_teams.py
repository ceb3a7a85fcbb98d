"""What members, devices and keys of a team may call, as the product promises it; not derived from the code.

A grid of areas; `team_area` names the area of each operation. Cells: `+` succeeds, `-` 403 ROLE_NOT_ALLOWED, `0` 404.
"""

import re

from tests.security.expected import AREAS, EXPECTED

# `elsewhere` is a manager of another event of the organisation. The key has the scopes stock and gate. The last two are
# in the team of the merchant.
TEAM_CALLERS = (
    "manager",
    "finance",
    "door",
    "stock",
    "messages",
    "viewer",
    "elsewhere",
    "gate_device",
    "stock_device",
    "key",
    "stall_manager",
    "cashier",
)
TEAM_GRID = """
person          + + + + + + +   - - -   + +
events: list    + + + + + + +   + + +   + +
own events      + + + + + + +   + + +   - -
events: create  + - - - - - -   - - -   - -
event: read     + + + + + + 0   + + +   - -
event: write    + - - - - - 0   - - -   - -
guests: read    + + - - - + 0   - - -   - -
guests: write   + - - - - - 0   - - -   - -
gate: read      + - + - - + 0   + - +   - -
gate: admit     + - + - - - 0   + - +   - -
stock: read     + + - + - + 0   - + +   - -
stock: write    + - - + - - 0   - + +   - -
stalls: list    + + - - - + +   - - -   - -
stalls: read    + + - - - + 0   - - -   - -
stalls: write   + - - - - - 0   - - -   - -
messages: read  + - - - + + 0   - - -   - -
messages: write + - - - + - 0   - - -   - -
messages: again U - - - U - 0   - - -   - -
messages: whole + - - - + - -   - - -   - -
money: read     + + - - - - 0   - - -   - -
money: write    + + - - - - 0   - - -   - -
devices         + - - - - - 0   - - -   - -
members: read   + - - - - - -   - - -   - -
members: write  - - - - - - -   - - -   - -
keys            - - - - - - -   - - -   - -
audit           + + - - - - -   - - -   - -
files: read     + + 0 0 0 0 0   0 0 0   - -
files: delete   + 0 0 0 0 0 0   0 0 0   - -
stall: read     - - - - - - -   - - -   + +
stall: run      - - - - - - -   - - -   + +
stall: manage   - - - - - - -   - - -   + -
stall: money    - - - - - - -   - - -   + -
stall: pay      - - - - - - -   - - -   N -
stall: own      - - - - - - -   - - -   - -
admins          - - - - - - -   - - -   - -
own: codes      K K K K K K K   - - -   K K
own: off        F F F F F F F   - - -   F F
invited         A A A A A A A   - - -   A A
others' things  0 0 0 0 0 0 0   - - -   0 0
"""
TEAM_CODES = {
    "K": (422, "CODE_INVALID"),
    "F": (409, "SECOND_FACTOR_OFF"),
    "A": (409, "INVITE_FOR_ANOTHER_ADDRESS"),
    "-": (403, "ROLE_NOT_ALLOWED"),
    "0": (404, "NOT_FOUND"),
    "N": (409, "OWNER_MUST_CONFIRM"),
    "U": (409, "NOTHING_UNCERTAIN"),
}
TEAM_AREAS = {
    line[:16].strip(): dict(zip(TEAM_CALLERS, line[16:].split(), strict=True))
    for line in TEAM_GRID.strip().splitlines()
}

# The first pattern that matches `METHOD path` decides.
PATTERNS = (
    (r"\w+ /api/admin/", "admins"),
    (r"POST /api/team-invites/", "invited"),
    (r"POST /api/auth/(change-email|second-factor)/confirm", "own: codes"),
    (r"POST /api/auth/second-factor/recovery-codes", "own: off"),
    (r"DELETE /api/auth/(memberships|sessions)/{", "others' things"),
    (r"\w+ /api/organisations/me/api-keys", "keys"),
    (r"GET /api/organisations/me/audit", "audit"),
    (r"GET /api/organisations/me/(journal.csv|vat|money)$|POST /api/organisations/me/money/", "audit"),
    (r"GET /api/organisations/me/(tasks|search|files)$", "own events"),
    (r"GET /api/organisations/me/files/", "files: read"),
    (r"DELETE /api/organisations/me/files/", "files: delete"),
    (r"\w+ /api/events/{eventId}/money", "money: read"),
    (r"POST .*/invoice/(received|credit)", "money: write"),
    (r"PATCH .*/invoice/buyer", "money: write"),
    (r"POST /api/events/{id}/copy", "events: create"),
    (r"GET /api/events/{eventId}/audit", "money: read"),
    (r"GET /api/events/{eventId}/stall-fees", "money: read"),
    (r"POST /api/events/{eventId}/stall-fees/statement", "money: write"),
    (r"GET /api/organisations/me(/members)?$", "members: read"),
    (r"PATCH /api/organisations/me$|POST /api/organisations/me/contact-link", "members: write"),
    (r"\w+ /api/organisations/me/members", "members: write"),
    (r"\w+ /api/events/{eventId}/devices", "devices"),
    (r"GET /api/events/{eventId}/admissions/stats", "gate: read"),
    (r"\w+ /api/events/{eventId}/admissions", "gate: admit"),
    (r"GET /api/events/{eventId}/allocations/will-call", "gate: read"),
    (r"POST /api/events/{eventId}/allocations/will-call", "gate: admit"),
    (r"GET /api/events/{eventId}/tickets(/imports.*)?$", "guests: read"),
    (r"GET .*/invoice(.pdf|/preview)?$", "money: read"),
    (r"POST .*/invoice/email", "money: write"),
    (r"GET .*/allocations/.*/(codes|tickets.pdf)$", "guests: write"),
    (r"GET .*/allocations|POST .*/allocations/quote", "guests: read"),
    (r"POST .*/allocations", "guests: write"),
    (r"(PATCH|POST) .*/inventory/reminder", "event: write"),
    (r"GET .*/inventory", "stock: read"),
    (r"\w+ .*/inventory", "stock: write"),
    (r"\w+ /api/events/{id}/notifications/suppressions", "messages: whole"),
    (r"POST .*/resend-uncertain", "messages: again"),
    (r"GET /api/events/{id}/notifications|POST .*/audience-preview", "messages: read"),
    (r"\w+ /api/events/{id}/notifications", "messages: write"),
    (r"GET .*/merchant-directory|GET /api/events/{eventId}/(stalls|stall-types)$", "stalls: read"),
    (r"PATCH /api/events/{eventId}/stalls/", "stalls: write"),
    (r"POST .*/(merchant-invite|directory-invites)", "stalls: write"),
    (r"GET /api/merchant-applications$", "stalls: list"),
    (r"GET /api/merchant-applications/{applicationId}", "stalls: read"),
    (r"POST /api/merchant-applications/{applicationId}/fee/", "money: write"),
    (r"POST .*/withdraw", "stall: own"),
    (r"\w+ /api/merchant-applications/{applicationId}", "stalls: write"),
    (r"GET /api/events$", "events: list"),
    (r"POST /api/events(/upload-cover)?$", "events: create"),
    (r"GET /api/events/", "event: read"),
    (r"\w+ /api/events/", "event: write"),
    (r"PUT .*/crew|GET .*/crew/hours|PATCH .*/event-invites|POST .*/me/pause", "stall: manage"),
    (r"\w+ .*/crew|PATCH .*/pos-floor-status", "stall: run"),
    (r"POST .*/payout-requests$", "stall: pay"),
    (r"\w+ .*/payout-requests", "stall: money"),
    (r"GET /api/merchants/me(/events|/event-invites.*)?$", "stall: read"),
    (r"\w+ /api/merchants/", "stall: own"),
)


def team_area(operation: str) -> str:
    """The area of an operation that needs a token."""
    return next((area for pattern, area in PATTERNS if re.match(pattern, operation)), "person")


def needs_token(operation: str) -> bool:
    return AREAS[EXPECTED[operation]]["nobody"] == "." or operation == "GET /api/events"


def team_expectation(operation: str, caller: str) -> tuple[int, str] | None:
    """The refusal for this caller; None where it has to succeed."""
    cell = TEAM_AREAS[team_area(operation)][caller]
    return None if cell == "+" else TEAM_CODES[cell]
