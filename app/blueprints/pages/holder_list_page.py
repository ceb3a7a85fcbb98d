"""The page on which the holder of an allocation hands out several tickets at once, by a list of guests."""

import secrets

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.allocations import actions, link_queries
from app.allocations.actions.guest_lists import MAX_HANDED_OUT, HandedOutList
from app.allocations.errors import InsufficientSlots
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.guest_lines import GUESTS, GuestLines
from app.blueprints.pages.holder_page import build_context, redirect_with_notice, render_unusable_link
from app.blueprints.pages.rendering import Pages
from app.blueprints.pages.repeated_forms import submit_once
from app.core.errors import AppError, Gone, NotFound
from app.core.languages import lazy_gettext, mark_plural, ngettext
from app.web.fields import Boolean
from app.web.rate_limits import get_client_network
from app.web.schema import Query

PAGE, CHECK_PAGE = "pages/holder_list.html", "pages/holder_list_check.html"
blueprint = Pages("allocator_list", __name__, url_prefix="/allocator", translated=True)
MAILED = mark_plural("%(num)s guest gets a ticket by e-mail.", "%(num)s guests get a ticket by e-mail.")
LISTED = mark_plural("%(num)s person is on the list at the gate.", "%(num)s people are on the list at the gate.")
LEFT_OUT = mark_plural(
    "%(num)s guest of your list has a ticket already.", "%(num)s guests of your list have a ticket already."
)
TICKETS_LEFT = mark_plural(
    "Only %(num)s ticket is left, and your list needs %(requested)s.",
    "Only %(num)s tickets are left, and your list needs %(requested)s.",
)
REASONS = {
    "ALREADY_INVITED": lazy_gettext("has a ticket from you"),
    "LISTED_TWICE": lazy_gettext("is in your list twice"),
}


class GuestListSchema(Query):
    recipients = GuestLines(max_guests=MAX_HANDED_OUT, required=True)
    allow_duplicates = Boolean(load_default=False)


GUEST_LIST = Form(
    GuestListSchema,
    GUESTS,
    Input("allowDuplicates", lazy_gettext("Give another ticket to guests who have one from you"), type="checkbox"),
)


@blueprint.get("/<token>/several")
def start(token: str) -> ResponseReturnValue:
    """Show the form for the list."""
    try:
        return _render_list(token, GUEST_LIST.fill())
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)


@blueprint.post("/<token>/several")
def hand_out(token: str) -> ResponseReturnValue:
    """Show who gets a ticket and who does not; with `send` hand the tickets out."""
    form = GUEST_LIST.from_request()
    try:
        if request.form.get("change"):
            return _render_list(token, form)
        values = form.load()
        network = get_client_network()
        if not request.form.get("send"):
            return _render_check(token, form, actions.hand_out_list(token, network, **values, dry_run=True))
        notice = submit_once("anonymous", lambda: _describe_result(actions.hand_out_list(token, network, **values)))
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)
    except FORM_ERRORS as error:
        return _render_refused(token, form.with_error(_reword(error)))
    return redirect_with_notice(token, notice)


def _describe_result(handed_out: HandedOutList) -> str:
    counts = (
        (MAILED, len(handed_out["mailed"])),
        (LISTED, sum(guest["quantity"] for guest in handed_out["listed"])),
        (LEFT_OUT, len(handed_out["duplicates"])),
    )
    return " ".join(ngettext(*texts, count) for texts, count in counts if count)


def _reword(error: AppError) -> AppError:
    if not isinstance(error, InsufficientSlots):
        return error
    text = ngettext(*TICKETS_LEFT, error.data["available"], requested=error.data["requested"])
    return InsufficientSlots(text, **error.data)


def _render_list(token: str, form: FilledForm) -> ResponseReturnValue:
    block = link_queries.get_allocator_block(token, get_client_network())
    if not block["available"] and form.error is None:
        return redirect(url_for("allocator.start", token=token), 303)
    return render_form(PAGE, form, token=token, **build_context(block))


def _render_refused(token: str, form: FilledForm) -> ResponseReturnValue:
    try:
        return _render_list(token, form)
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)


def _render_check(token: str, form: FilledForm, handed_out: HandedOutList) -> Response:
    block = link_queries.get_allocator_block(token, get_client_network())
    return render_form(
        CHECK_PAGE,
        form,
        token=token,
        handed_out=handed_out,
        count=len(handed_out["mailed"]) + sum(guest["quantity"] for guest in handed_out["listed"]),
        reasons=REASONS,
        form_key=secrets.token_urlsafe(16),
        **build_context(block),
    )
