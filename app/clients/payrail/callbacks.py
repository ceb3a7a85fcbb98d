"""What the rail tells of its own accord. It only ever makes us look sooner: polling finds the same outcome."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from flask import current_app

from app.clients.payrail import signing
from app.clients.payrail.errors import CallbackNotSigned, CallbackUnreadable
from app.clients.payrail.interface import Outcome, TransferOutcome
from app.clients.payrail.message_parsing import Unreadable, amount, message, moment, word

CHARGE, TRANSFER = "charge", "transfer"
_OUTCOMES: dict[str, dict[str, Outcome | TransferOutcome]] = {
    CHARGE: {item.value: item for item in (Outcome.PAID, Outcome.DECLINED, Outcome.EXPIRED, Outcome.REFUNDED)},
    TRANSFER: {
        item.value: item
        for item in (
            TransferOutcome.ACCEPTED,
            TransferOutcome.PAID,
            TransferOutcome.FAILED,
            TransferOutcome.RETURNED,
        )
    },
}


@dataclass(frozen=True, kw_only=True)
class CallbackEvent:
    """One event. `kind` is `charge` or `transfer`, and `outcome` of that kind; `event_id` is the rail's, unique."""

    event_id: str
    kind: str
    reference: str
    outcome: Outcome | TransferOutcome
    amount_minor: int
    currency: str
    at: datetime


def verified(headers: Mapping[str, str], body: bytes) -> CallbackEvent:
    """The event in a callback, once its signature over timestamp and raw body has held.

    `headers` are looked up by name as Flask's are, in any case of letters. Raises CallbackNotSigned (401) when the
    signature is missing, wrong, older than 300 seconds or from the future by more, or when no PAYRAIL_SECRET is set;
    CallbackUnreadable (422) when what was signed is no event. It asks nothing of database or network.
    """
    secret = current_app.extensions["settings"].PAYRAIL_SECRET
    timestamp, result = headers.get(signing.TIMESTAMP) or "", headers.get(signing.SIGNATURE) or ""
    if not secret or not signing.fresh(timestamp, time.time()):
        raise CallbackNotSigned()
    if not signing.same(result, signing.callback_signature(secret, timestamp=timestamp, body=body)):
        raise CallbackNotSigned()
    try:
        return _event(body)
    except Unreadable as error:
        raise CallbackUnreadable(problem=str(error)) from None


def _event(body: bytes) -> CallbackEvent:
    result = message(body)
    kind = word(result, "kind", 20)
    outcome = _OUTCOMES.get(kind, {}).get(word(result, "outcome", 20))
    if outcome is None:
        raise Unreadable("outcome" if kind in _OUTCOMES else "kind")
    return CallbackEvent(
        event_id=word(result, "id", 80),
        kind=kind,
        reference=word(result, "reference", 80),
        outcome=outcome,
        amount_minor=amount(result),
        currency=word(result, "currency", 3),
        at=moment(result),
    )
