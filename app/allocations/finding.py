"""From what somebody holds (a token, or a claim code that was typed) to what it opens.

A token that we gave out proves itself; a code, and a token that proves nothing, may be a guess. Of those a client
network may get twenty wrong in a minute; then it waits, also with right ones.
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, or_, select

from app.allocations import links
from app.allocations.links import Purpose
from app.allocations.models import AllocationSlot
from app.core import throttle
from app.core.db import db
from app.core.errors import NotFound, Throttled
from app.core.throttle import Rule
from app.core.transaction import transaction

MISSES = Rule("allocation-links", 20, timedelta(minutes=1))
UNKNOWN = "This link or code is not one of ours; copy the whole of it from where it came."
TOO_MANY = "Too many wrong links or codes came from this network; wait for the seconds in Retry-After."


@dataclass(frozen=True)
class Key:
    """What was brought: a slot's link or code (`claim`), or a block's link; and its generation (None: a code)."""

    purpose: Purpose
    id: str
    generation: int | None


def found(token: str, network: str, *purposes: Purpose) -> Key:
    """What the token or code is the key to. Raises NotFound, Throttled."""
    link = links.read(token)
    if link is not None and link.purpose in purposes:
        return Key(link.purpose, link.id, link.generation)
    _check(network)
    code = links.code_in(token) if "claim" in purposes else None
    slot_id = code and db.session.scalar(select(AllocationSlot.id).where(has_code(code)))
    if not slot_id:
        missed(network)
        raise NotFound(UNKNOWN)
    return Key("claim", slot_id, None)


def has_code(code: str) -> ColumnElement[bool]:
    """SQL: the slot that this code opens or has opened."""
    return or_(AllocationSlot.code == code, AllocationSlot.claim_code == code)


def missed(network: str) -> None:
    """Remembers a wrong one. Raises Throttled for those that were under way while others used the count up."""
    with transaction() as session:
        standings = throttle.hit_all(session, *throttle.by_network(MISSES, network))
    exceeded = [each.seconds for each in standings if each.exceeded]
    if exceeded:
        raise Throttled(TOO_MANY, retry_after=max(exceeded))


def _check(network: str) -> None:
    spent = [each for each in throttle.standing(*throttle.by_network(MISSES, network)) if each.spent]
    if spent:
        raise Throttled(TOO_MANY, retry_after=max(each.seconds for each in spent))
