"""The own account: details, address and second factor."""

import pyotp

from app.accounts.actions import reset_second_factor, undo_address_change
from app.audit.actions import Action
from tests.audit.scenes import records
from tests.blueprints.test_address_change import change, find_undo_token
from tests.factories.accounts import PASSWORD, create_customer, create_signed_in_client
from tests.factories.second_factors import get_challenge, send_code, turn_on
from tests.http import Client, data

SECOND_FACTOR = "/api/auth/second-factor"


@records(Action.PROFILE_CHANGED, Action.ADDRESS_CHANGED, Action.ADDRESS_RESTORED)
def changing_details_and_address(client: Client) -> None:
    owner = create_customer()
    old_address, me = owner.email, create_signed_in_client(client, owner)
    for _ in range(2):
        data(me.patch("/api/auth/me", {"phone": "081 123 4567"}))
    change(me)
    undo_address_change(token=find_undo_token(old_address))


@records(Action.SECOND_FACTOR_ON, Action.RECOVERY_CODES_RENEWED, Action.SECOND_FACTOR_OFF)
def using_an_app_for_codes(client: Client) -> None:
    me, password = create_signed_in_client(client, create_customer()), {"password": PASSWORD}
    secret = data(me.post(SECOND_FACTOR, password), 201)["secret"]
    data(me.post(f"{SECOND_FACTOR}/confirm", {"code": pyotp.TOTP(secret).now()}))
    data(me.post(f"{SECOND_FACTOR}/recovery-codes", password))
    data(me.delete(SECOND_FACTOR, json=password))


@records(Action.SECOND_FACTOR_LOCKED, Action.RECOVERY_CODE_USED, Action.SECOND_FACTOR_RESET)
def guessing_codes(client: Client) -> None:
    owner = create_customer()
    phone = turn_on(owner)
    for _ in range(4):
        challenge = get_challenge(client, owner)
        for _ in range(5):
            send_code(client, challenge, phone.wrong_code())
    data(send_code(client, get_challenge(client, owner), phone.recovery_codes[0]))
    assert reset_second_factor(email=owner.email)
