"""The phone of a gate on the pages: who it is, and pages that may use its camera."""

from flask import Response

from app.accounts.caller import Caller
from app.accounts.permissions import GATE_ADMIT
from app.accounts.queries import DEVICE_TOKEN_PREFIX, find_token_caller
from app.blueprints.pages.rendering import REFRESH_POLICY, render_page
from app.web.access import check_access, identify_actor, may
from app.web.cookies import read_device_token_cookie

ACCESS = may(GATE_ADMIT)
GATE_POLICY = f"{REFRESH_POLICY}; worker-src 'self'; manifest-src 'self'"
CAMERA_PERMISSION = "camera=(self), geolocation=(), microphone=()"


def find_gate_caller() -> Caller | None:
    """Return the phone with which this browser is paired; None if it is none of a gate, or was ended."""
    token = read_device_token_cookie()
    if token is None or not token.startswith(DEVICE_TOKEN_PREFIX):
        return None
    caller = find_token_caller(token, GATE_ADMIT)
    if caller is None or not ACCESS.allows(caller):
        return None
    check_access(ACCESS, caller)
    identify_actor(caller)
    return caller


def get_event_id(caller: Caller) -> str:
    """Return the id of the event of a phone."""
    return caller.grant.event_ids[0]


def render_gate_page(template: str, *, status: int = 200, **context: object) -> Response:
    """Return a page that may use the camera of its own site and its script."""
    response = render_page(template, status=status, **context)
    response.headers["Content-Security-Policy"] = GATE_POLICY
    response.headers["Permissions-Policy"] = CAMERA_PERMISSION
    return response
