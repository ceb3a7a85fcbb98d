"""The stall fee of a cancelled or past event cannot be paid."""

from pathlib import Path

import pytest

from mock_rail import MockServer
from tests.blueprints.test_stall_fee import send_code
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import list_captures
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.blueprints.test_stall_fee_outcomes import make_withdrawable_application
from tests.clients.rail import journal_of
from tests.factories.payouts import execute_sql, use_rail
from tests.factories.stall_payments import load_payment_status
from tests.http import Client, data, read_error
from tests.models.charges import ModelRail

EVENT_ENDS = ["visibility = 'cancelled'", "ends_at = now(), starts_at = now() - interval '1 h'"]


@pytest.mark.parametrize("event_change", EVENT_ENDS)
def test_no_payment_starts_for_a_cancelled_or_past_event(
    payer: Client, server: MockServer, journal: Path, event_change: str
) -> None:
    _, _, path = make_withdrawable_application(payer)
    execute_sql(f"UPDATE event SET {event_change}")
    assert read_error(payer.post(path)) == (409, "APPLICATIONS_CLOSED")
    assert not journal_of(journal, "charge")


@pytest.mark.parametrize("event_change", EVENT_ENDS)
def test_code_is_refused_once_the_event_is_cancelled_or_over(
    payer: Client, server: MockServer, journal: Path, event_change: str
) -> None:
    _, _, path = make_withdrawable_application(payer)
    payment_id = data(payer.post(path))["paymentId"]
    execute_sql(f"UPDATE event SET {event_change}")
    for response in (send_code(payer, path), send_code(payer, path, "000000"), payer.post(path)):
        assert read_error(response) == (409, "APPLICATIONS_CLOSED")
    assert load_payment_status(payment_id) == "otp_required" and not list_captures(journal)


def test_lost_start_is_not_repeated_for_a_cancelled_event(payer: Client) -> None:
    _, _, path = make_withdrawable_application(payer)
    with use_rail(ModelRail(start_answer="lost")) as rail:
        assert payer.post(path).status_code == 503
        execute_sql("UPDATE event SET visibility = 'cancelled'")
        assert read_error(payer.post(path)) == (409, "APPLICATIONS_CLOSED")
    assert rail.charges == {}
