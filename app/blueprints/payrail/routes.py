"""What the payment rail calls: `/api/payrail`."""

from typing import Any

from flask import request

from app.payouts import actions
from app.payouts.errors import CALLBACK_ERRORS
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint

blp = Blueprint("payrail", __name__, url_prefix="/api/payrail", description="Callbacks of the payment rail")


@blp.post("/callbacks", access=PUBLIC, errors=CALLBACK_ERRORS)
def hear_callback() -> Any:
    """Take an event of the payment rail, signed over its timestamp and raw body.

    It only makes the service ask the rail at once; the outcome is what the rail then answers. An event id counts once.
    """
    return actions.receive_callback(headers=dict(request.headers), body=request.get_data())
