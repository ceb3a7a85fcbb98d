"""The sessions of the signed-in account: `/api/auth/sessions`."""

from marshmallow import fields

from app.accounts import actions, queries
from app.core.errors import NotFound
from app.web.access import SIGNED_IN, get_current_caller
from app.web.blueprint import Blueprint
from app.web.fields import Boolean, List, Nested, TimeField
from app.web.schema import Schema

blp = Blueprint("sessions", __name__, url_prefix="/api/auth/sessions", description="The devices that are signed in")


class SessionData(Schema):
    id = fields.String(required=True)
    kind = fields.String(
        required=True,
        metadata={
            "enum": ["api", "console"],
            "example": "console",
            "description": "`console` is a browser on the pages of this service; `api` is any other client",
        },
    )
    device = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "Firefox on Android", "description": "as the client described itself at the sign-in"},
    )
    network = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "203.0.113.0/24", "description": "the network of the sign-in, without the exact address"},
    )
    created_at = TimeField(required=True)
    last_seen_at = TimeField(
        required=True,
        metadata={"description": "the last refresh, or the last use of a page; recorded at most every five minutes"},
    )
    current = Boolean(
        required=True,
        attribute="is_current",
        metadata={"example": True, "description": "whether this is the session of the request"},
    )


class SessionsData(Schema):
    sessions = List(Nested(SessionData), required=True)


@blp.get("", access=SIGNED_IN, returns=SessionsData)
def list_sessions() -> dict[str, object]:
    """List the active sessions of the account.

    The session of the request comes first; the others follow by last use. An account has at most 20.
    """
    return {"sessions": queries.list_sessions(get_current_caller())}


@blp.delete("/others", access=SIGNED_IN)
def end_other_sessions() -> None:
    """End every session but this one.

    Their access tokens and cookies become invalid immediately.
    """
    actions.end_other_sessions(caller=get_current_caller())


@blp.delete("/<sessionId>", access=SIGNED_IN, errors=[NotFound])
def end_session(session_id: str) -> None:
    """End a session.

    Its access tokens or its cookie become invalid immediately. It may be the session of the request.
    """
    actions.end_session(caller=get_current_caller(), session_id=session_id)
