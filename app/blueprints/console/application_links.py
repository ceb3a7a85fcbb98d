"""What the pages behind a mailed link share: a dead one explains itself and offers a fresh one by mail."""

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
DEAD_PAGE = "console/link_dead.html"


def handle_dead_link(purpose: str) -> Callable[[View], View]:
    """The view of a link's page; dead and unknown links get a page that helps."""

    def around(view: View) -> View:
        @wraps(view)
        def view_or_help(token: str, **arguments: Any) -> ResponseReturnValue:
            try:
                return view(token=token, **arguments)
            except Gone as error:
                rate_limits.count_lookup_failure()
                return dead_page(token, purpose, status=error.status)
            except NotFound:
                rate_limits.count_lookup_failure()
                return page("console/link_unknown.html", status=404)

        return view_or_help

    return around


def offer_fresh_links(blueprint: Pages, purpose: str) -> None:
    """Adds the address to which a dead page sends its form, and the page that follows."""

    def ask(token: str) -> ResponseReturnValue:
        """Mails a fresh link to the address of the application, and to no other."""
        try:
            rate_limits.count_request(EMAIL_REQUEST_LIMIT, FRESH)
            sent = actions.request_links(token=token, purpose=purpose)
        except Throttled as error:
            return dead_page(token, purpose, status=error.status, wait=error)
        session[SENT] = sent
        return redirect(url_for(f"{blueprint.name}.sent", token=token), 303)

    def sent(token: str) -> ResponseReturnValue:
        """Says that it is on its way, and where to look."""
        if SENT not in session:
            return redirect(f"{blueprint.url_prefix}/{token}", 303)
        return page("console/link_sent.html", dead=link_queries.get_expired_link(token, purpose), sent=session[SENT])

    blueprint.add_url_rule("/<token>/fresh", "ask_fresh", handle_dead_link(purpose)(ask), methods=["POST"])
    blueprint.add_url_rule("/<token>/sent", "sent", handle_dead_link(purpose)(sent), methods=["GET"])


def dead_page(token: str, purpose: str, *, status: int, wait: Throttled | None = None) -> Response:
    """Why the link is dead, and the offer of a fresh one. Raises NotFound."""
    dead = link_queries.get_expired_link(token, purpose)
    response = page(DEAD_PAGE, status=status, dead=dead, contact=dead.contact, purpose=purpose, token=token, wait=wait)
    response.headers["Content-Security-Policy"] = FORM_POLICY
    if wait is not None:
        response.headers.extend(wait.headers)
    return response
