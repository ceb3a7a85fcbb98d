"""Unsubscribing from messages: a page with a button, and one-click unsubscribe of mail programs (RFC 8058).

Link scanners open the page too, so a GET changes nothing.
"""

from collections.abc import Callable
from functools import wraps

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.blueprints.pages.rendering import Pages, render_page
from app.core.addresses import mask_address
from app.core.errors import NotFound
from app.subscriptions import actions, queries
from app.subscriptions.message_links import ONE_CLICK_BODY, UnsubscribeTarget, decode_unsubscribe_token
from app.web.rate_limits import Limit, count_lookup_failure, count_request

READ_LIMIT, ROUTE = Limit(120), "/unsubscribe/<token>"
View = Callable[..., ResponseReturnValue]


def is_one_click() -> bool:
    """Whether a mail program sent this request. It has no cookie, so only the token identifies the recipient."""
    name, _, value = ONE_CLICK_BODY.partition("=")
    return request.method == "POST" and request.form.get(name) == value


blueprint = Pages("unsubscribe", __name__, url_prefix="/unsubscribe", is_csrf_exempt=is_one_click)


def require_valid_link(view: View) -> View:
    """Decorate a view with the target of its link. An unknown link gets a page that explains it."""

    @wraps(view)
    def wrapper(token: str) -> ResponseReturnValue:
        try:
            target = decode_unsubscribe_token(token)
            if target is None:
                raise NotFound()
            return view(token=token, target=target)
        except NotFound:
            count_lookup_failure()
            return render_page("pages/unsubscribe_unknown.html", status=404)

    return wrapper


@blueprint.get("/<token>")
@require_valid_link
def start(token: str, target: UnsubscribeTarget) -> ResponseReturnValue:
    """Show the messages that the link stops, and whether they are stopped. Raises NotFound."""
    count_request(READ_LIMIT, ROUTE)
    return render_page("pages/unsubscribe.html", token=token, target=target, **_load_context(target))


@blueprint.post("/<token>")
@require_valid_link
def choose(token: str, target: UnsubscribeTarget) -> ResponseReturnValue:
    """Unsubscribe or resubscribe. A mail program gets one line of text and no cookie."""
    _apply_choice(target, "this" if is_one_click() else request.form.get("choice", ""))
    if is_one_click():
        return Response("You will not get these messages any more.\n", content_type="text/plain; charset=utf-8")
    return redirect(url_for("unsubscribe.start", token=token), 303)


def _apply_choice(target: UnsubscribeTarget, choice: str) -> None:
    if choice in ("this", "everything"):
        actions.unsubscribe(target, from_all=choice == "everything")
    elif choice == "again":
        actions.resubscribe(target)


class UnsubscribePage(queries.UnsubscribeStatus):
    """The variables of the template; `address` is masked."""

    address: str | None


def _load_context(target: UnsubscribeTarget) -> UnsubscribePage:
    unsubscribe_status = queries.find_unsubscribe_status(target)
    if unsubscribe_status is None:
        raise NotFound()
    return {**unsubscribe_status, "address": mask_address(target.address)}
