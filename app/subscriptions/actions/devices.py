"""Devices for push messages: a token belongs to whoever signed in on it last."""

from typing import Any

from sqlalchemy import text

from app.accounts.caller import Caller
from app.core.ids import new_id
from app.core.transaction import transaction, write_row
from app.subscriptions.claiming import claim

MOST = 20
REGISTER = text("""
    INSERT INTO push_device AS known (id, account_id, token, platform)
    VALUES (:id, :account_id, :token, :platform)
        ON CONFLICT (token) DO UPDATE
       SET id = CASE WHEN known.account_id = excluded.account_id THEN known.id ELSE excluded.id END,
           created_at = CASE WHEN known.account_id = excluded.account_id THEN known.created_at ELSE now() END,
           account_id = excluded.account_id, platform = excluded.platform, seen_at = now()
 RETURNING id, platform, created_at, seen_at
""")
# One that somebody is taking over at this moment is not waited for: two accounts might wait for each other.
THIN_OUT = text("""
    DELETE FROM push_device WHERE id IN (
        SELECT id FROM push_device WHERE account_id = :account_id AND id <> :id
         ORDER BY seen_at DESC, id DESC OFFSET :others FOR UPDATE SKIP LOCKED)
""")
REMOVE = "DELETE FROM push_device WHERE account_id = %(account_id)s AND token = %(token)s RETURNING id"


def register_device(*, caller: Caller, token: str, platform: str) -> dict[str, Any]:
    """The device, from now on the caller's. Of more than 20, those not seen for longest go."""
    with transaction() as session:
        claim(session, caller.id)
        about = {"id": new_id(), "account_id": caller.id, "token": token, "platform": platform}
        device = dict(session.execute(REGISTER, about).one()._mapping)
        session.execute(THIN_OUT, {"account_id": caller.id, "id": device["id"], "others": MOST - 1})
    return device


def remove_device(*, caller: Caller, token: str) -> dict[str, Any]:
    """Whether the caller had the device; from now on he has not."""
    return {"removed": write_row(REMOVE, {"account_id": caller.id, "token": token}) is not None}
