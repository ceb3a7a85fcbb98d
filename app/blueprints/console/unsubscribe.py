"""Saying no to messages: a page with a button, and what a mail program posts by itself (RFC 8058).

Programs that look where links lead open the page as well, so opening it changes nothing.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.blueprints.console.rendering import Pages, page
from app.core.addresses import mask_email
from app.core.errors import NotFound
from app.subscriptions import actions, queries
from app.subscriptions.unsubscribe_links import ONE_CLICK_BODY, UnsubscribeTarget, decode_unsubscribe_token
from app.web.rate_limits import Limit, count_lookup_failure, count_request

READING, ROUTE = Limit(120), "/unsubscribe/<token>"
View = Callable[..., ResponseReturnValue]


def one_click() -> bool:
    """Whether a mail program asks: it has neither our page nor a cookie, and the token alone says who asks for what."""
    name, _, value = ONE_CLICK_BODY.partition("=")
    return request.method == "POST" and request.form.get(name) == value


blueprint = Pages("unsubscribe", __name__, url_prefix="/unsubscribe", open_to=one_click)


def require_subject(view: View) -> View:
    """The view of a link that we have made; any other has a page that says what may have happened to it."""

    @wraps(view)
    def wrapper(token: str) -> ResponseReturnValue:
        try:
            subject = decode_unsubscribe_token(token)
            if subject is None:
                raise NotFound()
            return view(token=token, subject=subject)
        except NotFound:
            count_lookup_failure()
            return page("console/unsubscribe_unknown.html", status=404)

    return wrapper


@blueprint.get("/<token>")
@require_subject
def start(token: str, subject: UnsubscribeTarget) -> ResponseReturnValue:
    """What the link would end, and how it stands. Raises NotFound."""
    count_request(READING, ROUTE)
    return page("console/unsubscribe.html", token=token, **_render_page(subject))


@blueprint.post("/<token>")
@require_subject
def choose(token: str, subject: UnsubscribeTarget) -> ResponseReturnValue:
    """Ends messages, or lets them begin again; a mail program is answered in one line, and given no cookie."""
    _do(subject, "this" if one_click() else request.form.get("choice", ""))
    if one_click():
        return Response("You get no more of these messages.\n", content_type="text/plain; charset=utf-8")
    return redirect(url_for("unsubscribe.start", token=token), 303)


def _do(subject: UnsubscribeTarget, choice: str) -> None:
    if choice in ("this", "everything"):
        actions.unsubscribe(subject, from_all=choice == "everything")
    elif choice == "again":
        actions.resubscribe(subject)


def _render_page(subject: UnsubscribeTarget) -> dict[str, Any]:
    unsubscribe_status = queries.find_unsubscribe_status(subject)
    if unsubscribe_status is None:
        raise NotFound()
    return {**unsubscribe_status, "address": mask_email(subject.address)}
