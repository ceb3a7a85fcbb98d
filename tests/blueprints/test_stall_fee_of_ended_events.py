"""The stall fee of an event that was called off, or is over: nobody pays it any more."""

from pathlib import Path

import pytest

from app.clients.payrail.mock_server import MockServer
from tests.blueprints.test_stall_fee import otp
from tests.blueprints.test_stall_fee_live import captured
from tests.blueprints.test_stall_fee_live import journal as journal
from tests.blueprints.test_stall_fee_live import payer as payer
from tests.blueprints.test_stall_fee_live import server as server
from tests.blueprints.test_stall_fee_outcomes import withdrawable
from tests.clients.rail import journal_of
from tests.factories.payouts import rail_of, write
from tests.factories.stall_payments import status_of
from tests.http import Client, data, refusal
from tests.models.charges import ModelRail

ENDED = ["visibility = 'cancelled'", "ends_at = now(), starts_at = now() - interval '1 h'"]


@pytest.mark.parametrize("ended", ENDED)
def test_no_fee_is_taken_for_an_event_that_is_called_off_or_over(
    payer: Client, server: MockServer, journal: Path, ended: str
) -> None:
    _, _, path = withdrawable(payer)
    write(f"UPDATE event SET {ended}")
    assert refusal(payer.post(path)) == (409, "APPLICATIONS_CLOSED")
    assert not journal_of(journal, "charge")


@pytest.mark.parametrize("ended", ENDED)
def test_a_code_that_was_sent_before_is_not_taken_once_the_event_is_called_off_or_over(
    payer: Client, server: MockServer, journal: Path, ended: str
) -> None:
    _, _, path = withdrawable(payer)
    started = data(payer.post(path))["paymentId"]
    write(f"UPDATE event SET {ended}")
    for answer in (otp(payer, path), otp(payer, path, "000000"), payer.post(path)):
        assert refusal(answer) == (409, "APPLICATIONS_CLOSED")
    assert status_of(started) == "otp_required" and not captured(journal)


def test_a_start_that_was_lost_is_not_made_again_once_the_event_is_called_off(payer: Client) -> None:
    _, _, path = withdrawable(payer)
    with rail_of(ModelRail(start_answer="lost")) as rail:
        assert payer.post(path).status_code == 503
        write("UPDATE event SET visibility = 'cancelled'")
        assert refusal(payer.post(path)) == (409, "APPLICATIONS_CLOSED")
    assert rail.charges == {}
