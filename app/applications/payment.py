"""The payment of a stall fee: its states and its limits.

    starting ──▶ otp_required ──▶ processing ──▶ paid
        │           │    ▲  └──▶ expired │
        │           ▼    └───────────────┤  (a wrong code)
        └─────▶ expired                  └──▶ declined

Of an application at most one payment is between `starting` and `paid`: the database refuses a second one. Its id is
the reference at the rail, so a call that is repeated is the same charge. A payment whose outcome is not known stays
`processing` and is asked after until it is.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session as OrmSession

from app.applications.models import Application, StallPayment
from app.core import throttle
from app.core.db import db
from app.core.errors import Throttled
from app.core.throttle import Rule

CODE_LIVES = timedelta(minutes=5)
TRIES = 5
SOON = Rule("pay-codes", 3, timedelta(minutes=10))
DAILY = Rule("pay-codes-a-day", 6, timedelta(days=1))


@dataclass(frozen=True)
class Standing:
    """The newest payment of an application, by the database's clock."""

    row: StallPayment
    seconds: int

    @property
    def status(self) -> str:
        late = self.row.status == "otp_required" and self.seconds <= 0
        return "expired" if late else self.row.status


def newest(application_id: str, session: OrmSession | None = None) -> Standing | None:
    """The payment that counts, or else the last one that came to nothing."""
    left = func.ceil(func.extract("epoch", StallPayment.expires_at - func.now()))
    statement = (
        select(StallPayment, left)
        .where(StallPayment.application_id == application_id)
        .order_by(StallPayment.created_at.desc(), StallPayment.id.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    )
    row = (session or db.session).execute(statement).first()
    return Standing(row[0], int(row[1] or 0)) if row else None


def told(application: Application, found: Standing | None) -> dict[str, Any]:
    """A payment as its payer sees it: due until it runs, and why the last try came to nothing."""
    if application.amount_minor == 0:
        return {"status": "not_required"}
    if found is None or found.status in ("expired", "declined"):
        failed = {"last_failure": found.status, "payment_id": found.row.id} if found else {}
        return {"status": "due", **failed}
    said: dict[str, Any] = {
        "status": found.status,
        "payment_id": found.row.id,
        "wallet": f"••••\u00a0{found.row.msisdn[-4:]}",
    }
    if found.status == "otp_required":
        said |= {"expires_in": found.seconds, "tries_left": TRIES - found.row.tries}
    return said


def spend_code(session: OrmSession, msisdn: str) -> None:
    """Counts one code to a wallet's owner. Raises Throttled: nobody's telephone is made to ring all day."""
    for rule in (SOON, DAILY):
        standing = throttle.hit(session, rule, msisdn)
        if standing.exceeded:
            raise Throttled("Too many codes were sent to this number.", retry_after=standing.seconds)
