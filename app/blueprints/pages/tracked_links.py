"""Tracked links of campaigns: count the click, then redirect to the organiser's address."""

from flask import Response, redirect, request

from app.blueprints.pages.rendering import Pages
from app.campaigns import actions
from app.subscriptions.message_links import is_human_click
from app.web.rate_limits import limit_failed_lookups

blueprint = Pages("click", __name__)


@blueprint.get("/r/<token>")
@limit_failed_lookups
def follow(token: str) -> Response:
    """Redirect to the target of the link. Clicks of link scanners are not counted."""
    response = redirect(actions.click(token, counts=is_human_click(request.method, dict(request.headers))), 302)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return Response(response=response.get_data(), status=302, headers=response.headers)
