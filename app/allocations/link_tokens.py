"""Claim, allocator and open links: derived from id, purpose and generation, so they can be shown and sent again
without being stored.

A token says what it is for, and 136 bits of keyed hash prove that it was given out. Whether its generation still
counts stands at the slot or block. A claim code is the other thing that opens a claim page: ten characters.

From what somebody holds (a token, or a claim code that was typed) to what it opens.

A token that we gave out proves itself; a code, and a token that proves nothing, may be a guess. Of those a client
network may get twenty wrong in a minute; then it waits, also with right ones.

When a claim, open or allocator link counts, and why one does not.
"""

import secrets
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from flask import current_app
from sqlalchemy import ColumnElement, RowMapping, or_, select
from sqlalchemy.orm import Session

from app.allocations import states
from app.allocations.errors import ReleaseTimePassed
from app.allocations.models import AllocationSlot
from app.core import throttle
from app.core.db import db
from app.core.errors import AppError, LinkExpired, LinkUsed, NotFound, Throttled
from app.core.throttle import Rule
from app.core.tokens import derive
from app.core.transaction import transaction
from app.invitations.errors import EventClosed

Purpose = Literal["claim", "open", "allocator"]
PURPOSE_BYTES: dict[Purpose, bytes] = {"claim": b"C", "open": b"O", "allocator": b"A"}
PURPOSE_BY_BYTE: dict[bytes, Purpose] = {purpose_byte: purpose for purpose, purpose_byte in PURPOSE_BYTES.items()}
PAGE_PATHS: dict[Purpose, str] = {"claim": "claim", "open": "claim", "allocator": "allocator"}
ID_LENGTH, GENERATION_LENGTH, SIGNATURE_LENGTH = 12, 3, 17
TOKEN_LENGTH = (1 + ID_LENGTH + GENERATION_LENGTH + SIGNATURE_LENGTH) // 3 * 4
CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 10
_CODE_TRANSLATION = str.maketrans({"O": "0", "I": "1", "L": "1"} | dict.fromkeys("- \t\u00a0\u202f", ""))
_CODE_CHARACTERS = frozenset(CODE_ALPHABET)


@dataclass(frozen=True)
class LinkToken:
    """What a token that we gave out leads to: a slot's id (claim) or a block's, and the generation it was made for."""

    purpose: Purpose
    id: str
    generation: int


def encode_token(purpose: Purpose, id: str, generation: int) -> str:
    """The token: 44 url-safe characters."""
    payload = PURPOSE_BYTES[purpose] + bytes.fromhex(id) + generation.to_bytes(GENERATION_LENGTH, "big")
    return urlsafe_b64encode(payload + _sign(purpose, id, generation)).decode()


def build_link_url(purpose: Purpose, id: str, generation: int) -> str:
    """The page that the token opens."""
    return f"{build_url_prefix(purpose)}{encode_token(purpose, id, generation)}"


def build_url_prefix(purpose: Purpose) -> str:
    """What a page's address begins with; the token or a claim code follows."""
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/{PAGE_PATHS[purpose]}/"


def decode_token(token: str) -> LinkToken | None:
    """What a token leads to; None for one that was never given out."""
    if len(token) != TOKEN_LENGTH or not token.isascii():
        return None
    try:
        raw = b64decode(token, altchars=b"-_", validate=True)
    except ValueError:
        return None
    purpose = PURPOSE_BY_BYTE.get(raw[:1])
    if purpose is None:
        return None
    id, generation = (
        raw[1 : 1 + ID_LENGTH].hex(),
        int.from_bytes(raw[1 + ID_LENGTH : 1 + ID_LENGTH + GENERATION_LENGTH], "big"),
    )
    is_genuine = secrets.compare_digest(raw[1 + ID_LENGTH + GENERATION_LENGTH :], _sign(purpose, id, generation))
    return LinkToken(purpose, id, generation) if is_genuine else None


def generate_code() -> str:
    """A code: ten characters that cannot be mistaken for one another, 50 random bits; never one that a
    spreadsheet takes for a number (all digits, or with one E among them)."""
    while True:
        random_bits = secrets.randbits(5 * CODE_LENGTH)
        code = "".join(CODE_ALPHABET[random_bits >> 5 * position & 31] for position in range(CODE_LENGTH))
        if not code.replace("E", "", 1).isdigit():
            return code


def parse_code(text: str) -> str | None:
    """The claim code that somebody has typed, in any case, with blanks or hyphens, O for 0; None when it is none."""
    if len(text) > 40:
        return None
    code = text.upper().translate(_CODE_TRANSLATION)
    return code if len(code) == CODE_LENGTH and _CODE_CHARACTERS.issuperset(code) else None


def _sign(purpose: Purpose, id: str, generation: int) -> bytes:
    return derive("allocation-link", purpose, id, generation)[:SIGNATURE_LENGTH]


FAILED_LOOKUP_LIMIT = Rule("allocation-links", 20, timedelta(minutes=1))
UNKNOWN_TOKEN_MESSAGE = "This link or code is not one of ours; copy the whole of it from where it came."
TOO_MANY_FAILURES_MESSAGE = "Too many wrong links or codes came from this network; wait for the seconds in Retry-After."


@dataclass(frozen=True)
class ResolvedToken:
    """What was brought: a slot's link or code (`claim`), or a block's link; and its generation (None: a code)."""

    purpose: Purpose
    id: str
    generation: int | None


def resolve_token(token: str, network: str, *purposes: Purpose) -> ResolvedToken:
    """What the token or code is the key to. Raises NotFound, Throttled."""
    link = decode_token(token)
    if link is not None and link.purpose in purposes:
        return ResolvedToken(link.purpose, link.id, link.generation)
    _check_failed_lookups(network)
    code = parse_code(token) if "claim" in purposes else None
    slot_id = code and db.session.scalar(select(AllocationSlot.id).where(has_code_sql(code)))
    if not slot_id:
        count_failed_lookup(network)
        raise NotFound(UNKNOWN_TOKEN_MESSAGE)
    return ResolvedToken("claim", slot_id, None)


def has_code_sql(code: str) -> ColumnElement[bool]:
    """SQL: the slot that this code opens or has opened."""
    return or_(AllocationSlot.code == code, AllocationSlot.claim_code == code)


def count_failed_lookup(network: str) -> None:
    """Remembers a wrong one. Raises Throttled for those that were under way while others used the count up."""
    with transaction() as session:
        limit_statuses = throttle.hit_all(session, *throttle.by_network(FAILED_LOOKUP_LIMIT, network))
    retry_seconds = [limit_status.seconds for limit_status in limit_statuses if limit_status.exceeded]
    if retry_seconds:
        raise Throttled(TOO_MANY_FAILURES_MESSAGE, retry_after=max(retry_seconds))


def _check_failed_lookups(network: str) -> None:
    spent_limits = [
        limit_status
        for limit_status in throttle.get_status(*throttle.by_network(FAILED_LOOKUP_LIMIT, network))
        if limit_status.spent
    ]
    if spent_limits:
        raise Throttled(
            TOO_MANY_FAILURES_MESSAGE, retry_after=max(limit_status.seconds for limit_status in spent_limits)
        )


EVENT_CANCELLED_MESSAGE = "The event has been called off, and its links with it."
EVENT_OVER_MESSAGE = "The event is over."
RELEASE_TIME_PASSED_MESSAGE = (
    "The places that were not claimed in time went back to the public; ask who gave you this link."
)
LINK_REPLACED_MESSAGE = (
    "This link has ended, or a newer one has replaced it; ask who gave it to you for the present one."
)
CLAIM_SLOT_COLUMNS = (
    AllocationSlot.id,
    AllocationSlot.block_id,
    AllocationSlot.status,
    AllocationSlot.generation,
    AllocationSlot.name,
    AllocationSlot.email,
    AllocationSlot.phone,
    AllocationSlot.via,
    AllocationSlot.claimed_at,
)


def check_block_link(block: Any, resolved_token: ResolvedToken) -> None:
    """Whether a block's own link counts. Raises LinkExpired."""
    check_block_claimable(block)
    purpose = resolved_token.purpose
    if not block[f"{purpose}_live"] or block[f"{purpose}_generation"] != resolved_token.generation:
        raise LinkExpired(LINK_REPLACED_MESSAGE)
    if purpose == "open" and block["open_expired"]:
        raise LinkExpired()


def check_block_claimable(block: Any) -> None:
    """Whether anything can still be claimed in the block. Raises LinkExpired."""
    for end_column, message in (
        ("called_off", EVENT_CANCELLED_MESSAGE),
        ("event_over", EVENT_OVER_MESSAGE),
        ("over", RELEASE_TIME_PASSED_MESSAGE),
    ):
        if block[end_column]:
            raise LinkExpired(message)


def check_block_open(block: Any) -> None:
    """Whether links and codes of the block would still open something, for verbs that give them out.

    Raises EventClosed, ReleaseTimePassed.
    """
    check_event_open(block)
    if block["over"]:
        raise ReleaseTimePassed(releaseAt=block["release_at"])


def check_event_open(block: Any) -> None:
    """Whether the block's event is still to come or under way. Raises EventClosed."""
    if block["called_off"] or block["event_over"]:
        raise EventClosed("The event is over, archived or cancelled; nobody can be given a place any more.")


def load_slot(session: Session, id: str) -> RowMapping:
    """A slot as it stands now."""
    return session.execute(select(*CLAIM_SLOT_COLUMNS).where(AllocationSlot.id == id)).mappings().one()


def find_link_error(slot: Any, resolved_token: ResolvedToken) -> AppError | None:
    """Why a slot's link or code opens nothing any more; None while it does."""
    if slot["status"] in (states.REVOKED, states.RELEASED):
        return LinkExpired(LINK_REPLACED_MESSAGE)
    if resolved_token.generation not in (None, slot["generation"]):
        return LinkExpired(LINK_REPLACED_MESSAGE)
    if slot["status"] in (states.CLAIMED, states.ADMITTED):
        return LinkUsed("This place has been claimed with this link or code already.", claimedAt=slot["claimed_at"])
    return None if slot["status"] == states.INVITED else LinkExpired(LINK_REPLACED_MESSAGE)
