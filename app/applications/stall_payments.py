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
from app.applications.links import ResolvedLink
from app.applications.models import UNFINISHED_PAYMENT_STATES, Application, StallPayment
from app.core import throttle
from app.core.db import db
from app.core.errors import Throttled
from app.core.throttle import Rule

CODE_LIFETIME = timedelta(minutes=5)
MAX_TRIES = 5
SHORT_TERM_LIMIT = Rule("pay-codes", 3, timedelta(minutes=10))
DAILY_LIMIT = Rule("pay-codes-a-day", 6, timedelta(days=1))


SECONDS_LEFT_SQL = func.ceil(func.extract("epoch", StallPayment.expires_at - func.now()))
UNANSWERED_SQL: ColumnElement[bool] = (StallPayment.tries > StallPayment.answered) & (StallPayment.status != "paid")
_PAYMENT_RANK_SQL: Any = case(
    (StallPayment.status == "paid", 0),
    (UNANSWERED_SQL, 1),
    (StallPayment.status.in_(UNFINISHED_PAYMENT_STATES), 2),
    else_=3,
)
CURRENT_PAYMENT_ORDER = (_PAYMENT_RANK_SQL, StallPayment.created_at.desc(), StallPayment.id.desc())
"""The payment that is paid, else one that is unanswered, else one that runs, else the last."""
PAYMENT_STATUS_SQL: ColumnElement[str] = case((UNANSWERED_SQL, "processing"), else_=StallPayment.status)


@dataclass(frozen=True)
class CurrentPayment:
    """The newest payment of an application, by the database's clock."""

    stall_payment: StallPayment
    seconds_left: int

    @property
    def status(self) -> str:
        if is_unanswered(self.stall_payment):
            return "processing"
        is_expired = self.stall_payment.status == "otp_required" and self.seconds_left <= 0
        return "expired" if is_expired else self.stall_payment.status


def is_unanswered(payment: StallPayment) -> bool:
    """Whether a confirmation may have reached the rail, and no final answer has come."""
    return payment.tries > payment.answered and payment.status != "paid"


def end_open_payment(session: OrmSession, application_id: str) -> None:
    """Ends the payment that waits for its code. Raises PaymentInProgress while one is unanswered.

    The application must be locked: then nobody can confirm meanwhile.
    """
    of_application = StallPayment.application_id == application_id
    if session.scalar(select(StallPayment.id).where(of_application, UNANSWERED_SQL).limit(1)) is not None:
        raise PaymentInProgress()
    session.execute(
        update(StallPayment)
        .where(of_application, StallPayment.status.in_(("starting", "otp_required")))
        .values(status="expired")
        .execution_options(synchronize_session=False)
    )


def find_current_payment(application_id: str, session: OrmSession | None = None) -> CurrentPayment | None:
    """The payment that counts, or else the last one that came to nothing."""
    statement = select(StallPayment, SECONDS_LEFT_SQL).where(StallPayment.application_id == application_id)
    current_query = statement.order_by(*CURRENT_PAYMENT_ORDER).limit(1).execution_options(populate_existing=True)
    row = (session or db.session).execute(current_query).first()
    return build_current_payment(row[0], row[1]) if row else None


def get_link_with_payment(token: str) -> tuple[ResolvedLink, CurrentPayment | None]:
    """What stands behind a living payment link, and the newest payment, in one query. Raises NotFound, LinkExpired."""
    current_id_query = (
        select(StallPayment.id)
        .where(StallPayment.application_id == Application.id)
        .order_by(*CURRENT_PAYMENT_ORDER)
        .limit(1)
    )
    statement = links.link_by_token_query(token, links.PAYMENT).add_columns(StallPayment, SECONDS_LEFT_SQL)
    statement = statement.outerjoin(
        StallPayment, StallPayment.id == current_id_query.correlate(Application).scalar_subquery()
    )
    row = db.session.execute(statement).first()
    resolved_link = links.require_active_link(links.build_resolved_link(row))
    return resolved_link, build_current_payment(row[-2], row[-1]) if row and row[-2] else None


def build_current_payment(payment: StallPayment, seconds_left: Any) -> CurrentPayment:
    """A payment with the seconds that `LEFT` gave."""
    return CurrentPayment(payment, int(seconds_left or 0))


def serialize_payment(application: Application, current_payment: CurrentPayment | None) -> dict[str, Any]:
    """A payment as its payer sees it: due until it runs, and why the last try came to nothing."""
    if application.amount_minor == 0:
        return {"status": "not_required"}
    if current_payment is None or current_payment.status in ("expired", "declined"):
        failure = (
            {"last_failure": current_payment.status, "payment_id": current_payment.stall_payment.id}
            if current_payment
            else {}
        )
        return {"status": "due", **failure}
    data: dict[str, Any] = {
        "status": current_payment.status,
        "payment_id": current_payment.stall_payment.id,
        "wallet": f"••••\u00a0{current_payment.stall_payment.msisdn[-4:]}",
    }
    if current_payment.status == "otp_required":
        data |= {
            "expires_in": current_payment.seconds_left,
            "tries_left": MAX_TRIES - current_payment.stall_payment.tries,
        }
    return data


def count_code(session: OrmSession, msisdn: str) -> None:
    """Counts one code to a wallet's owner. Raises Throttled: nobody's telephone is made to ring all day."""
    for limit_status in throttle.hit_all(session, (SHORT_TERM_LIMIT, msisdn), (DAILY_LIMIT, msisdn)):
        if limit_status.exceeded:
            raise Throttled("Too many codes were sent to this number.", retry_after=limit_status.seconds)
