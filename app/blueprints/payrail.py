"""Callbacks of the payment rail: `/api/payrail`."""

from flask import request

from app.payouts import actions
from app.payouts.errors import CALLBACK_ERRORS
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint

blp = Blueprint("payrail", __name__, url_prefix="/api/payrail", description="Callbacks of the payment rail")


@blp.post("/callbacks", access=PUBLIC, errors=CALLBACK_ERRORS)
def hear_callback() -> None:
    """Take an event of the payment rail, signed over its timestamp and raw body.

    It only makes the service ask the rail, whose response decides the outcome. A repeated event id is ignored.
    """
    actions.receive_callback(headers=dict(request.headers), body=request.get_data())
