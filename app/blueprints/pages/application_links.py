"""Shared by the pages behind mailed links: an expired link has a page that offers a new one by email."""

from collections.abc import Callable
from functools import wraps

from flask import Response, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.applications import actions, link_queries
from app.blueprints.pages.forms import FORM_POLICY
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import Gone, NotFound, Throttled
from app.web import rate_limits
from app.web.rate_limits import EMAIL_REQUEST_LIMIT

View = Callable[..., ResponseReturnValue]
NEW_LINK_ROUTE = "/fresh-link"
SENT_KEY = "fresh_links"
LINK_EXPIRED_PAGE = "pages/link_expired.html"


def handle_unusable_link(purpose: str) -> Callable[[View], View]:
    """Decorate the view of a link; expired and unknown links get a page that explains them."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(token: str, **arguments: str) -> ResponseReturnValue:
            try:
                return view(token=token, **arguments)
            except Gone as error:
                rate_limits.count_lookup_failure()
                return render_expired_link(token, purpose, status=error.status)
            except NotFound:
                rate_limits.count_lookup_failure()
                return render_page("pages/link_unknown.html", status=404)

        return wrapper

    return decorate


def add_new_link_routes(blueprint: Pages, purpose: str) -> None:
    """Add the route that mails a new link, and the page that confirms it."""

    def request_new_link(token: str) -> ResponseReturnValue:
        """Mail a new link to the address of the application, and to no other."""
        try:
            rate_limits.count_request(EMAIL_REQUEST_LIMIT, NEW_LINK_ROUTE)
            sent = actions.request_links(token=token, purpose=purpose)
        except Throttled as error:
            return render_expired_link(token, purpose, status=error.status, wait=error)
        session[SENT_KEY] = sent
        return redirect(url_for(f"{blueprint.name}.sent", token=token), 303)

    def sent(token: str) -> ResponseReturnValue:
        """Confirm that the link was mailed."""
        if SENT_KEY not in session:
            return redirect(f"{blueprint.url_prefix}/{token}", 303)
        return render_page(
            "pages/link_sent.html", expired_link=link_queries.get_expired_link(token, purpose), sent=session[SENT_KEY]
        )

    blueprint.add_url_rule(
        "/<token>/fresh", "request_new_link", handle_unusable_link(purpose)(request_new_link), methods=["POST"]
    )
    blueprint.add_url_rule("/<token>/sent", "sent", handle_unusable_link(purpose)(sent), methods=["GET"])


def render_expired_link(token: str, purpose: str, *, status: int, wait: Throttled | None = None) -> Response:
    """Return the page that says why the link expired and offers a new one. Raises NotFound."""
    expired_link = link_queries.get_expired_link(token, purpose)
    response = render_page(
        LINK_EXPIRED_PAGE,
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
