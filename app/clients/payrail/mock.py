"""A rail that moves no money and always does the same. The code is 123456; wallets whose number ends in

    0001   decline once the code is right
    0002   commit, then time out: the outcome is known as paid 30 seconds later
    0003   answer after 5 seconds
    0005   refuse every code

and all others succeed at once (0004 concerns payouts: it bounces a minute after it was paid). What it knows stands
in a table, so that web, worker and a restarted process see the same rail.
"""

import time
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.clients.payrail.interface import Charge, Outcome
from app.clients.payrail.mock_state import MockCharge
from app.core.db import db, release
from app.core.transaction import assert_no_transaction, transaction

CODE = "123456"
DECLINES, TIMES_OUT, ANSWERS_LATE, REFUSES_CODES = "0001", "0002", "0003", "0005"
KNOWN_AFTER = timedelta(seconds=30)


@dataclass(frozen=True)
class MockRail:
    """The stand-in; `late` is how many seconds a slow answer takes."""

    late: float = 5.0
    known_after: timedelta = KNOWN_AFTER

    def check(self) -> None:
        """It always can."""

    def start_charge(self, charge: Charge) -> Outcome:
        assert_no_transaction()
        self._delay(charge.msisdn)
        with transaction() as session:
            values = {"reference": charge.reference, "msisdn": charge.msisdn, "amount_minor": charge.amount_minor}
            session.execute(insert(MockCharge).values(values).on_conflict_do_nothing())
        return self.charge_status(charge.reference)

    def confirm_charge(self, reference: str, code: str) -> Outcome:
        assert_no_transaction()
        known = _charge(reference)
        if known is None:
            return Outcome.DECLINED
        self._delay(known.msisdn)
        if known.state == "open" and (code != CODE or known.msisdn.endswith(REFUSES_CODES)):
            return Outcome.WRONG_CODE
        if known.msisdn.endswith(DECLINES):
            _end(reference, "declined")
        elif known.msisdn.endswith(TIMES_OUT):
            _end(reference, "paid", known_after=self.known_after)
        else:
            _end(reference, "paid")
        return self.charge_status(reference)

    def charge_status(self, reference: str) -> Outcome:
        assert_no_transaction()
        known = _charge(reference)
        if known is None:
            return Outcome.DECLINED
        if known.state == "open":
            return Outcome.CODE_SENT
        return Outcome(known.state) if known.told else Outcome.UNKNOWN

    def _delay(self, msisdn: str) -> None:
        if msisdn.endswith(ANSWERS_LATE):
            time.sleep(self.late)


@dataclass(frozen=True)
class _Known:
    msisdn: str
    state: str
    told: bool


def _charge(reference: str) -> _Known | None:
    told: ColumnElement[bool] = func.coalesce(MockCharge.known_at <= func.now(), True)
    asked = select(MockCharge.msisdn, MockCharge.state, told).where(MockCharge.reference == reference)
    row = db.session.execute(asked).first()
    release()
    return _Known(*row) if row else None


def _end(reference: str, state: str, *, known_after: timedelta = timedelta()) -> None:
    with transaction() as session:
        session.execute(
            update(MockCharge)
            .where(MockCharge.reference == reference, MockCharge.state == "open")
            .values(state=state, known_at=func.now() + known_after)
        )
