"""Listening to the rail."""

from collections.abc import Mapping

from sqlalchemy.dialects.postgresql import insert

from app.clients.payrail.callbacks import verified
from app.core.transaction import transaction
from app.payouts.hints import ask_because_of
from app.payouts.models import PayrailCallback


def hear(*, headers: Mapping[str, str], body: bytes) -> None:
    """Keeps a signed event, once, and has the rail asked at once. Raises CallbackNotSigned, CallbackUnreadable."""
    event = verified(headers, body)
    with transaction() as session:
        kept = session.execute(
            insert(PayrailCallback).values(vars(event)).on_conflict_do_nothing().returning(PayrailCallback.event_id)
        )
        if kept.first() is not None:
            ask_because_of(event)
