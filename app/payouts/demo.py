"""Demo money with a story: what three stalls earned at the festival, and what they had paid out.

    seed(account, KAPANA, "the password of the demo accounts")

Seeding twice changes nothing: earnings are known by their references, payouts by their keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from app.accounts.caller import acting_as
from app.accounts.models import Account
from app.core.clock import utcnow
from app.core.db import db
from app.ledger.settling.booking import settle
from app.ledger.settling.reading import Credit
from app.payouts.actions import request_payout
from app.payouts.models import Payout
from app.payouts.submitting import usable


@dataclass(frozen=True)
class Earned:
    """Takings of the days before today, the oldest first, in cents; and payouts: amount, wallet, days from now."""

    prefix: str
    takings: Sequence[int]
    payouts: Sequence[tuple[int, str, int]]


KAPANA = Earned(
    "KC",
    (148_350, 212_900, 187_425, 96_500, 240_175),
    ((350_000, "+264811234567", 0), (60_000, "+264811230001", 0), (150_000, "+264811234567", 7)),
)
CRAFTS = Earned("OC", (64_200, 38_750, 71_900), ((90_000, "+264815550123", 0),))
BREWS = Earned("NB", (305_600, 418_250), ())


def seed(account: Account, story: Earned, password: str) -> bool:
    """Whether anything had to be made. The password confirms the destinations. The worker pays what is due when it
    runs; one of the wallets declines."""
    begun = utcnow() - timedelta(days=len(story.takings))
    booked = settle(
        [
            Credit(
                number + 2,
                f"DEMO-{story.prefix}-{number + 1:02}",
                account.id,
                amount,
                begun + timedelta(days=number),
                f"Stall sales, day {number + 1}",
            )
            for number, amount in enumerate(story.takings)
        ]
    ).booked
    return bool(_asked(account, story, password) or booked)


def _asked(account: Account, story: Earned, password: str) -> int:
    known = set(db.session.scalars(select(Payout.idempotency_key).where(Payout.account_id == account.id)))
    keys = {f"demo-payout-{number}": item for number, item in enumerate(story.payouts, 1)}
    missing = {key: item for key, item in keys.items() if key not in known and usable()}
    for key, (amount, wallet, days) in missing.items():
        when: dict[str, Any] = {"mode": "now"}
        if days:
            when = {"mode": "schedule", "scheduled_for": utcnow() + timedelta(days=days)}
        request_payout(
            caller=acting_as(account),
            amount_minor=amount,
            destination="payrail",
            payrail_msisdn=wallet,
            idempotency_key=key,
            password=password,
            **when,
        )
    return len(missing)
