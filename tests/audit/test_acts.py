"""Every act of the table is recorded, in the transaction of the act."""

import pytest

from app.audit.actions import Action
from tests.audit import of_access, of_leaving, of_money, of_organisers, of_own_account
from tests.audit.scenes import SCENES, list_entries
from tests.http import Client

MODULES = (of_access, of_leaving, of_money, of_organisers, of_own_account)


@pytest.mark.parametrize("name", SCENES)
def test_what_people_do_is_recorded(client: Client, name: str) -> None:
    play, actions = SCENES[name]
    play(client)
    entries = list_entries()
    recorded = {entry["action"] for entry in entries}
    assert {action.value for action in actions} <= recorded, sorted(recorded)
    for entry in entries:
        assert entry["subject_kind"] == Action(entry["action"]).subject_kind
        assert entry["network"] in (None, "127.0.0.0/24")


def test_repeating_an_act_that_changes_nothing_is_not_recorded(client: Client) -> None:
    for play in (
        of_access.pausing_and_leaving,
        of_access.serving_an_event_by_a_device,
        of_money.requesting_and_cancelling_a_payout,
        of_organisers.withdrawing_an_application,
        of_organisers.inviting_merchants,
        of_organisers.changing_an_event,
        of_own_account.changing_details_and_address,
        of_leaving.suspending_an_account,
    ):
        play(client)
    once = [entry["action"] for entry in list_entries()]
    for action in (
        Action.MERCHANT_PAUSED,
        Action.DEVICE_ENDED,
        Action.PAYOUT_CANCELLED,
        Action.APPLICATION_WITHDRAWN,
        Action.INVITE_LINK_WITHDRAWN,
        Action.PROFILE_CHANGED,
        Action.ACCOUNT_SUSPENDED,
        Action.ACCOUNT_RESTORED,
        Action.EVENT_CHANGED,
        Action.PROMO_CODES_CHANGED,
        Action.TICKET_TYPE_CHANGED,
        Action.STALL_TYPE_CHANGED,
    ):
        assert once.count(action.value) == 1


def test_every_act_has_a_scene() -> None:
    assert {action for _, actions in SCENES.values() for action in actions} == set(Action)
    assert {play.__module__ for play, _ in SCENES.values()} == {module.__name__ for module in MODULES}
