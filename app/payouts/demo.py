"""Demo data: earnings and payouts of three stalls.

    seed(account, KAPANA, "the password of the demo accounts")

Seeding twice changes nothing, because references of earnings and keys of payouts are unique.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select

from app.accounts.caller import build_caller
from app.accounts.models import Account
from app.core.clock import utcnow
from app.core.db import db
from app.ledger.settlement_import import Credit, import_settlement
from app.payouts.actions import request_payout
from app.payouts.models import Payout
from app.payouts.transfers import is_rail_enabled


@dataclass(frozen=True)
class DemoMerchant:
    """Earnings of the days before today, the oldest first, in cents; payouts as amount, wallet and days from now."""

    prefix: str
    daily_earnings: Sequence[int]
    payouts: Sequence[tuple[int, str, int]]


KAPANA = DemoMerchant(
    "KC",
    (148_350, 212_900, 187_425, 96_500, 240_175),
    ((350_000, "+264811234567", 0), (60_000, "+264811230001", 0), (150_000, "+264811234567", 7)),
)
CRAFTS = DemoMerchant("OC", (64_200, 38_750, 71_900), ((90_000, "+264815550123", 0),))
BREWS = DemoMerchant("NB", (305_600, 418_250), ())


def seed(account: Account, demo_merchant: DemoMerchant, password: str) -> bool:
    """Add missing demo data; return whether any was missing. The password confirms the destinations.

    The worker submits what is due. The wallet that ends in 0001 declines.
    """
    start = utcnow() - timedelta(days=len(demo_merchant.daily_earnings))
    credited = import_settlement(
        [
            Credit(
                index + 2,
                f"DEMO-{demo_merchant.prefix}-{index + 1:02}",
                account.id,
                amount,
                start + timedelta(days=index),
                f"Stall sales, day {index + 1}",
            )
            for index, amount in enumerate(demo_merchant.daily_earnings)
        ]
    ).booked_count
    return bool(_request_payouts(account, demo_merchant, password) or credited)


def _request_payouts(account: Account, demo_merchant: DemoMerchant, password: str) -> int:
    existing_keys = set(db.session.scalars(select(Payout.idempotency_key).where(Payout.account_id == account.id)))
    payouts_by_key = {f"demo-payout-{index}": demo_payout for index, demo_payout in enumerate(demo_merchant.payouts, 1)}
    missing = {
        key: demo_payout
        for key, demo_payout in payouts_by_key.items()
        if key not in existing_keys and is_rail_enabled()
    }
    for key, (amount, wallet, days) in missing.items():
        request_payout(
            caller=build_caller(account),
            amount_minor=amount,
            destination="payrail",
            mode="schedule" if days else "now",
            scheduled_for=utcnow() + timedelta(days=days) if days else None,
            payrail_msisdn=wallet,
            idempotency_key=key,
            password=password,
        )
    return len(missing)
