"""Offering a free place to the next in line, and what the pages say about the line."""

from flask import request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.applications import actions, states
from app.blueprints.pages.desk.shell import do_once, go_to, render_confirmation
from app.blueprints.pages.desk.stall_words import reword
from app.blueprints.pages.desk.stalls import DECIDE, blueprint, get_event_application
from app.blueprints.pages.forms import FORM_ERRORS
from app.core.errors import AppError, NotFound
from app.core.languages import gettext


@blueprint.page("/<application_id>/offer", access=DECIDE)
def confirm_offer(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Ask whether to offer a place."""
    return _render(caller, event_id, application_id)


@blueprint.act("/<application_id>/offer", access=DECIDE)
def offer(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Offer a place to the application, if it is next in line."""

    def act() -> str:
        actions.offer_place(caller, application_id)
        return ""

    get_event_application(caller, event_id, application_id)
    try:
        do_once(caller, act)
    except FORM_ERRORS as error:
        return _render(caller, event_id, application_id, reword(error))
    back = url_for("desk_stalls.show_application", event_id=event_id, application_id=application_id)
    return go_to(back, gettext("The place is offered. The applicant gets a mail."))


def _render(caller: Caller, event_id: str, application_id: str, error: AppError | None = None) -> ResponseReturnValue:
    event, row = get_event_application(caller, event_id, application_id)
    if row["status"] != states.WAITLISTED and request.method == "GET":
        raise NotFound()
    return render_confirmation(
        event=event,
        title=gettext("Offer a place to %(name)s?", name=row["business_name"] or row["reference"]),
        text=gettext(
            "They get a mail with an offer, which they can answer for three days, and until two days before the event. "
            "If they accept, the application is approved."
        ),
        button=gettext("Offer the place"),
        back=url_for("desk_stalls.show_application", event_id=event.id, application_id=row["id"]),
        error=error,
    )
