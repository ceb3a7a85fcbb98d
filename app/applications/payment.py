"""The payment of a stall fee: its states and its limits.

    starting ──▶ otp_required ──▶ processing ──▶ paid
        │           │    ▲  └──▶ expired │
        │           ▼    └───────────────┤  (a wrong code)
        └─────▶ expired                  └──▶ declined

Of an application at most one payment is between `starting` and `paid`: the database refuses a second one. Its id is
the reference at the rail, so a call that is repeated is the same charge.

A payment is unanswered while a confirmation of it may have reached the rail and the rail's answer is not final. It
shows as `processing`, whatever its state, and no other payment of its application begins.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, case, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.applications import links
from app.applications.errors import PaymentInProgress
from app.applications.links import Opened
from app.applications.models import UNFINISHED, Application, StallPayment
from app.core import throttle
from app.core.db import db
from app.core.errors import Throttled
from app.core.throttle import Rule

CODE_LIVES = timedelta(minutes=5)
TRIES = 5
SOON = Rule("pay-codes", 3, timedelta(minutes=10))
DAILY = Rule("pay-codes-a-day", 6, timedelta(days=1))


LEFT = func.ceil(func.extract("epoch", StallPayment.expires_at - func.now()))
UNANSWERED: ColumnElement[bool] = (StallPayment.tries > StallPayment.answered) & (StallPayment.status != "paid")
_rank: Any = case(
    (StallPayment.status == "paid", 0), (UNANSWERED, 1), (StallPayment.status.in_(UNFINISHED), 2), else_=3
)
NEWEST = (_rank, StallPayment.created_at.desc(), StallPayment.id.desc())
"""The payment that is paid, else one that is unanswered, else one that runs, else the last."""
SHOWN_STATUS: ColumnElement[str] = case((UNANSWERED, "processing"), else_=StallPayment.status)


@dataclass(frozen=True)
class Standing:
    """The newest payment of an application, by the database's clock."""

    row: StallPayment
    seconds: int

    @property
    def status(self) -> str:
        if unanswered(self.row):
            return "processing"
        late = self.row.status == "otp_required" and self.seconds <= 0
        return "expired" if late else self.row.status


def unanswered(row: StallPayment) -> bool:
    """Whether a confirmation may have reached the rail, and no final answer has come."""
    return row.tries > row.answered and row.status != "paid"


def end_running(session: OrmSession, application_id: str) -> None:
    """Ends the payment that waits for its code. Raises PaymentInProgress while one is unanswered.

    The application must be locked: then nobody can confirm meanwhile.
    """
    here = StallPayment.application_id == application_id
    if session.scalar(select(StallPayment.id).where(here, UNANSWERED).limit(1)) is not None:
        raise PaymentInProgress()
    session.execute(
        update(StallPayment)
        .where(here, StallPayment.status.in_(("starting", "otp_required")))
        .values(status="expired")
        .execution_options(synchronize_session=False)
    )


def newest(application_id: str, session: OrmSession | None = None) -> Standing | None:
    """The payment that counts, or else the last one that came to nothing."""
    statement = select(StallPayment, LEFT).where(StallPayment.application_id == application_id)
    newest_first = statement.order_by(*NEWEST).limit(1).execution_options(populate_existing=True)
    row = (session or db.session).execute(newest_first).first()
    return standing(row[0], row[1]) if row else None


def behind(token: str) -> tuple[Opened, Standing | None]:
    """What stands behind a living payment link, and the newest payment, in one query. Raises NotFound, LinkExpired."""
    last = select(StallPayment.id).where(StallPayment.application_id == Application.id).order_by(*NEWEST).limit(1)
    statement = links.asked(token, links.PAYMENT).add_columns(StallPayment, LEFT)
    statement = statement.outerjoin(StallPayment, StallPayment.id == last.correlate(Application).scalar_subquery())
    row = db.session.execute(statement).first()
    found = links.living(links.found(row))
    return found, standing(row[-2], row[-1]) if row and row[-2] else None


def standing(row: StallPayment, left: Any) -> Standing:
    """A payment with the seconds that `LEFT` gave."""
    return Standing(row, int(left or 0))


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
    for standing in throttle.hit_all(session, (SOON, msisdn), (DAILY, msisdn)):
        if standing.exceeded:
            raise Throttled("Too many codes were sent to this number.", retry_after=standing.seconds)
