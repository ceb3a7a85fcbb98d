"""Claim, open, allocator and ticket links, and claim codes: their tokens, what a token or code opens, and whether it is valid.

A token has a purpose, an id and a generation, signed with 136 bits of a keyed hash. So a link is not stored and can be
shown again; it is valid while its generation is that of the slot or block.

A signed token proves itself. A code, or a token with a wrong signature, may be a guess: a client network has 20 failed
lookups in a minute; after that its codes are refused, also correct ones.
"""

import secrets
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from flask import current_app
from sqlalchemy import ColumnElement, Row, or_, select
from sqlalchemy.orm import Session

from app.allocations import states
from app.allocations.errors import ReleaseTimePassed
from app.allocations.models import AllocationSlot
from app.allocations.queries import BlockRow
from app.core import throttle
from app.core.db import db
from app.core.errors import AppError, LinkExpired, LinkUsed, NotFound, Throttled
from app.core.languages import mark_for_translation
from app.core.throttle import Rule
from app.core.tokens import derive
from app.core.transaction import transaction
from app.invitations.errors import EventClosed

Purpose = Literal["claim", "open", "allocator", "ticket"]
PURPOSE_BYTES: dict[Purpose, bytes] = {"claim": b"C", "open": b"O", "allocator": b"A", "ticket": b"T"}
PURPOSE_BY_BYTE: dict[bytes, Purpose] = {purpose_byte: purpose for purpose, purpose_byte in PURPOSE_BYTES.items()}
PAGE_PATHS: dict[Purpose, str] = {"claim": "claim", "open": "claim", "allocator": "allocator", "ticket": "ticket"}
ID_LENGTH, GENERATION_LENGTH, SIGNATURE_LENGTH = 12, 3, 17
TOKEN_LENGTH = (1 + ID_LENGTH + GENERATION_LENGTH + SIGNATURE_LENGTH) // 3 * 4
CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 10
_CODE_TRANSLATION = str.maketrans({"O": "0", "I": "1", "L": "1"} | dict.fromkeys("- \t\u00a0\u202f", ""))
_CODE_CHARACTERS = frozenset(CODE_ALPHABET)
FAILED_LOOKUP_LIMIT = Rule("allocation-links", 20, timedelta(minutes=1))
UNKNOWN_TOKEN_MESSAGE = "This link or code is not valid; copy the whole of it from the message you got."
TOO_MANY_FAILURES_MESSAGE = "Too many wrong links or codes came from this network; wait for the seconds in Retry-After."
EVENT_CANCELLED_MESSAGE = mark_for_translation("The event has been cancelled, so its links no longer work.")
EVENT_OVER_MESSAGE = mark_for_translation("The event is over.")
RELEASE_TIME_PASSED_MESSAGE = mark_for_translation(
    "Places that were not claimed in time went back on sale; ask the person who gave you this link."
)
LINK_REPLACED_MESSAGE = mark_for_translation(
    "This link has ended, or a newer link has replaced it; ask the person who gave it to you for a new one."
)
SlotColumns = tuple[str, str, str, int, str | None, str | None, str | None, str | None, datetime | None]


@dataclass(frozen=True)
class LinkToken:
    """The content of a token: the id of a slot (claim, ticket) or of a block (open, allocator), and the generation."""

    purpose: Purpose
    id: str
    generation: int


@dataclass(frozen=True)
class ResolvedToken:
    """A slot's link or claim code (`claim`), the link of its ticket (`ticket`), or a link of a block. `generation` is None for a code."""

    purpose: Purpose
    id: str
    generation: int | None


def encode_token(purpose: Purpose, id: str, generation: int) -> str:
    """Return the token: 44 URL-safe characters."""
    payload = PURPOSE_BYTES[purpose] + bytes.fromhex(id) + generation.to_bytes(GENERATION_LENGTH, "big")
    return urlsafe_b64encode(payload + _sign(purpose, id, generation)).decode()


def build_link_url(purpose: Purpose, id: str, generation: int) -> str:
    """Return the URL of the page that the token opens."""
    return f"{build_url_prefix(purpose)}{encode_token(purpose, id, generation)}"


def build_url_prefix(purpose: Purpose) -> str:
    """Return the URL of a page up to the token or claim code."""
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base_url}/{PAGE_PATHS[purpose]}/"


def decode_token(token: str) -> LinkToken | None:
    """Return the content of a token; None if its signature is wrong."""
    if len(token) != TOKEN_LENGTH or not token.isascii():
        return None
    try:
        raw = b64decode(token, altchars=b"-_", validate=True)
    except ValueError:
        return None
    purpose = PURPOSE_BY_BYTE.get(raw[:1])
    if purpose is None:
        return None
    id_end, generation_end = 1 + ID_LENGTH, 1 + ID_LENGTH + GENERATION_LENGTH
    id = raw[1:id_end].hex()
    generation = int.from_bytes(raw[id_end:generation_end], "big")
    is_genuine = secrets.compare_digest(raw[generation_end:], _sign(purpose, id, generation))
    return LinkToken(purpose, id, generation) if is_genuine else None


def generate_code() -> str:
    """Return a random claim or ticket code: ten characters of an alphabet without look-alikes, 50 bits.

    A code never looks like a number to a spreadsheet (all digits, or digits and one E).
    """
    while True:
        random_bits = secrets.randbits(5 * CODE_LENGTH)
        code = "".join(CODE_ALPHABET[random_bits >> 5 * position & 31] for position in range(CODE_LENGTH))
        if not code.replace("E", "", 1).isdigit():
            return code


def parse_code(text: str) -> str | None:
    """Return the code that was typed in any case, with blanks or hyphens, O for 0, I or L for 1; None if invalid."""
    if len(text) > 40:
        return None
    code = text.upper().translate(_CODE_TRANSLATION)
    return code if len(code) == CODE_LENGTH and _CODE_CHARACTERS.issuperset(code) else None


def _sign(purpose: Purpose, id: str, generation: int) -> bytes:
    return derive("allocation-link", purpose, id, generation)[:SIGNATURE_LENGTH]


def resolve_token(token: str, network: str, *purposes: Purpose) -> ResolvedToken:
    """Return the slot or block that a token or claim code opens. Raises NotFound, Throttled."""
    link = decode_token(token)
    if link is not None and link.purpose in purposes:
        return ResolvedToken(link.purpose, link.id, link.generation)
    _check_failed_lookups(network)
    code = parse_code(token) if "claim" in purposes else None
    slot_id = code and db.session.scalar(select(AllocationSlot.id).where(has_code(code)))
    if not slot_id:
        _count_failed_lookup(network)
        raise NotFound(UNKNOWN_TOKEN_MESSAGE)
    return ResolvedToken("claim", slot_id, None)


def has_code(code: str) -> ColumnElement[bool]:
    """The condition that this is the ticket code of a slot, or the code it was claimed with."""
    return or_(AllocationSlot.code == code, AllocationSlot.claim_code == code)


def _count_failed_lookup(network: str) -> None:
    """Count a wrong token or code. Raises Throttled if concurrent requests have used up the limit."""
    with transaction() as session:
        limit_statuses = throttle.hit_all(session, *throttle.by_network(FAILED_LOOKUP_LIMIT, network))
    _raise_throttled([limit_status.seconds for limit_status in limit_statuses if limit_status.exceeded])


def _check_failed_lookups(network: str) -> None:
    limit_statuses = throttle.get_status(*throttle.by_network(FAILED_LOOKUP_LIMIT, network))
    _raise_throttled([limit_status.seconds for limit_status in limit_statuses if limit_status.spent])


def _raise_throttled(retry_seconds: list[int]) -> None:
    if retry_seconds:
        raise Throttled(TOO_MANY_FAILURES_MESSAGE, retry_after=max(retry_seconds))


def check_block_link(block: BlockRow, resolved_token: ResolvedToken) -> None:
    """Raises LinkExpired unless the open or allocator link of a block is valid."""
    check_block_claimable(block)
    purpose = resolved_token.purpose
    if not block[f"{purpose}_live"] or block[f"{purpose}_generation"] != resolved_token.generation:
        raise LinkExpired(LINK_REPLACED_MESSAGE)
    if purpose == "open" and block["open_expired"]:
        raise LinkExpired()


def check_block_claimable(block: BlockRow) -> None:
    """Raises LinkExpired if all links of a block have ended."""
    for column, message in (
        ("event_cancelled", EVENT_CANCELLED_MESSAGE),
        ("event_over", EVENT_OVER_MESSAGE),
        ("release_time_passed", RELEASE_TIME_PASSED_MESSAGE),
    ):
        if block[column]:
            raise LinkExpired(message)


def check_block_open(block: BlockRow) -> None:
    """Raises EventClosed or ReleaseTimePassed if new links or codes of a block would open nothing."""
    check_event_open(block)
    if block["release_time_passed"]:
        raise ReleaseTimePassed(releaseAt=block["release_at"])


def check_event_open(block: BlockRow) -> None:
    """Raises EventClosed if the event of a block is over, archived or cancelled."""
    if block["event_cancelled"] or block["event_over"]:
        raise EventClosed("The event is over, archived or cancelled, so its places can no longer be given out.")


def count_open_link_slots(block: BlockRow) -> int:
    """Return how many places the open link of a block can still give out."""
    available: int = block["available"]
    max_claims: int | None = block["open_max_claims"]
    return available if max_claims is None else min(available, max_claims - block["open_claims"])


def load_linked_slot(session: Session, id: str) -> Row[*SlotColumns]:
    """Return the slot that a claim link or code opens, as it is now."""
    columns = (
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
    return session.execute(select(*columns).where(AllocationSlot.id == id)).one()


def find_link_error(slot: Row[*SlotColumns], resolved_token: ResolvedToken) -> AppError | None:
    """Return why the link or code of a slot opens nothing any more; None while it is valid."""
    if slot.status in (states.REVOKED, states.RELEASED):
        return LinkExpired(LINK_REPLACED_MESSAGE)
    if resolved_token.generation not in (None, slot.generation):
        return LinkExpired(LINK_REPLACED_MESSAGE)
    if slot.status in (states.CLAIMED, states.ADMITTED):
        return LinkUsed("This place has been claimed with this link or code already.", claimedAt=slot.claimed_at)
    return None if slot.status == states.INVITED else LinkExpired(LINK_REPLACED_MESSAGE)
