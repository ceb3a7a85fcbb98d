"""Shared by the pages behind mailed links: an expired link has a page that offers a new link by email."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, link_queries
from app.blueprints.console.forms import FORM_POLICY
from app.blueprints.console.rendering import Pages, page
from app.core.errors import Gone, NotFound, Throttled
from app.web import rate_limits
from app.web.rate_limits import EMAIL_REQUEST_LIMIT

View = Callable[..., ResponseReturnValue]
FRESH = "/fresh-link"
SENT = "fresh_links"
LINK_DEAD_PAGE = "console/link_dead.html"


def handle_dead_link(purpose: str) -> Callable[[View], View]:
    """Decorate the view of a link; expired and unknown links get a page that explains them."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(token: str, **arguments: Any) -> ResponseReturnValue:
            try:
                return view(token=token, **arguments)
            except Gone as error:
                rate_limits.count_lookup_failure()
                return render_dead_link(token, purpose, status=error.status)
            except NotFound:
                rate_limits.count_lookup_failure()
                return page("console/link_unknown.html", status=404)

        return wrapper

    return decorate


def offer_fresh_links(blueprint: Pages, purpose: str) -> None:
    """Add the route that mails a new link, and the page that confirms it."""

    def request_new_link(token: str) -> ResponseReturnValue:
        """Mail a new link to the address of the application, and to no other."""
        try:
            rate_limits.count_request(EMAIL_REQUEST_LIMIT, FRESH)
            sent = actions.request_links(token=token, purpose=purpose)
        except Throttled as error:
            return render_dead_link(token, purpose, status=error.status, wait=error)
        session[SENT] = sent
        return redirect(url_for(f"{blueprint.name}.sent", token=token), 303)

    def sent(token: str) -> ResponseReturnValue:
        """Confirm that the link was mailed."""
        if SENT not in session:
            return redirect(f"{blueprint.url_prefix}/{token}", 303)
        return page(
            "console/link_sent.html", expired_link=link_queries.get_expired_link(token, purpose), sent=session[SENT]
        )

    blueprint.add_url_rule("/<token>/fresh", "ask_fresh", handle_dead_link(purpose)(request_new_link), methods=["POST"])
    blueprint.add_url_rule("/<token>/sent", "sent", handle_dead_link(purpose)(sent), methods=["GET"])


def render_dead_link(token: str, purpose: str, *, status: int, wait: Throttled | None = None) -> Response:
    """Return the page that says why the link expired and offers a new one. Raises NotFound."""
    expired_link = link_queries.get_expired_link(token, purpose)
    response = page(
        LINK_DEAD_PAGE,
        status=status,
        expired_link=expired_link,
        contact=expired_link.contact,
        purpose=purpose,
        token=token,
        wait=wait,
    )
    response.headers["Content-Security-Policy"] = FORM_POLICY
    if wait is not None:
        response.headers.extend(wait.headers)
    return response
