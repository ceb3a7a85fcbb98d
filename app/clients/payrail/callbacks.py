"""Parsing of the rail's callbacks. A callback only triggers a status check; polling finds the same outcome later."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from flask import current_app

from app.clients.payrail import signing
from app.clients.payrail.errors import CallbackNotSigned, CallbackUnreadable
from app.clients.payrail.interface import Outcome, TransferOutcome
from app.clients.payrail.message_parsing import Unreadable, parse_amount, parse_message, parse_text, parse_time

CHARGE, TRANSFER = "charge", "transfer"
_OUTCOMES: dict[str, dict[str, Outcome | TransferOutcome]] = {
    CHARGE: {outcome.value: outcome for outcome in (Outcome.PAID, Outcome.DECLINED, Outcome.EXPIRED, Outcome.REFUNDED)},
    TRANSFER: {
        outcome.value: outcome
        for outcome in (
            TransferOutcome.ACCEPTED,
            TransferOutcome.PAID,
            TransferOutcome.FAILED,
            TransferOutcome.RETURNED,
        )
    },
}


@dataclass(frozen=True, kw_only=True)
class CallbackEvent:
    """An event of the rail. `kind` is `charge` or `transfer`; `event_id` is unique."""

    event_id: str
    kind: str
    reference: str
    outcome: Outcome | TransferOutcome
    amount_minor: int
    currency: str
    at: datetime


def parse_callback(headers: Mapping[str, str], body: bytes) -> CallbackEvent:
    """Check the signature over timestamp and raw body, and parse the event. Uses neither database nor network.

    `headers` must ignore case, as Flask's do. Raises CallbackNotSigned if the signature is missing or wrong, differs
    from our clock by more than 300 seconds, or PAYRAIL_SECRET is not set; CallbackUnreadable if the body is no event.
    """
    secret = current_app.extensions["settings"].PAYRAIL_SECRET
    timestamp, signature = headers.get(signing.TIMESTAMP) or "", headers.get(signing.SIGNATURE) or ""
    if not secret or not signing.is_fresh(timestamp, time.time()):
        raise CallbackNotSigned()
    if not signing.signatures_match(signature, signing.callback_signature(secret, timestamp=timestamp, body=body)):
        raise CallbackNotSigned()
    try:
        return _parse_event(body)
    except Unreadable as error:
        raise CallbackUnreadable(problem=str(error)) from None


def _parse_event(body: bytes) -> CallbackEvent:
    message = parse_message(body)
    kind = parse_text(message, "kind", 20)
    outcome = _OUTCOMES.get(kind, {}).get(parse_text(message, "outcome", 20))
    if outcome is None:
        raise Unreadable("outcome" if kind in _OUTCOMES else "kind")
    return CallbackEvent(
        event_id=parse_text(message, "id", 80),
        kind=kind,
        reference=parse_text(message, "reference", 80),
        outcome=outcome,
        amount_minor=parse_amount(message),
        currency=parse_text(message, "currency", 3),
        at=parse_time(message),
    )
