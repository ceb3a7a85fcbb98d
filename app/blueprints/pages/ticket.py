"""The page of a ticket, by its link: show it, download it, pass it on, give it back."""

from collections.abc import Callable
from functools import wraps

from flask import Response, flash, redirect, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from app.allocations import actions, qr_codes
from app.allocations.states import E_TICKET
from app.allocations.ticket_links import load_linked_ticket, load_linked_tickets
from app.allocations.ticket_pdf import draw_ticket_pdf
from app.blueprints.pages.claim import EMAIL, NAME, render_ended_link
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import Gone, NotFound
from app.core.file_names import build_attachment_header
from app.core.languages import gettext, lazy_gettext
from app.events.calendar_file import CALENDAR_TYPE
from app.web.fields import Email
from app.web.rate_limits import get_client_network
from app.web.schema import Query
from app.web.text_fields import EmailName

blueprint = Pages("ticket", __name__, url_prefix="/ticket", translated=True)
View = Callable[..., ResponseReturnValue]
ENDED_TITLE = lazy_gettext("This ticket no longer works")


class PassOnSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email(required=True)


PASS_ON = Form(PassOnSchema, NAME, EMAIL)


def handle_ended_ticket(view: View) -> View:
    """Decorate the view of a ticket link; ended and unknown links get a page that explains them."""

    @wraps(view)
    def wrapper(token: str) -> ResponseReturnValue:
        try:
            return view(token)
        except Gone as error:
            return render_ended_link(token, error, title=ENDED_TITLE)
        except NotFound:
            return render_page("pages/link_unknown.html", status=404)

    return wrapper


@blueprint.get("/<token>")
@handle_ended_ticket
def show(token: str) -> ResponseReturnValue:
    """Show the ticket, or all tickets of a party."""
    tickets = load_linked_tickets(token, get_client_network())
    first_ticket = tickets[0]
    return render_page(
        "pages/ticket.html",
        first_ticket=first_ticket,
        tickets_with_qr_codes=[
            (ticket, Markup(qr_codes.render_svg(ticket.code)))
            for ticket in tickets  # noqa: S704
        ],
        token=token,
        contact=first_ticket.contact,
        e_ticket=first_ticket.delivery == E_TICKET,
    )


@blueprint.get("/<token>/ticket.pdf")
@handle_ended_ticket
def pdf(token: str) -> ResponseReturnValue:
    """Download the tickets as a PDF; of a cancelled event there is only the page."""
    tickets = load_linked_tickets(token, get_client_network())
    if tickets[0].visit.is_cancelled:
        return redirect(url_for("ticket.show", token=token), 303)
    return _build_download(draw_ticket_pdf(tickets), "application/pdf", tickets[0].pdf_name)


@blueprint.get("/<token>/event.ics")
@handle_ended_ticket
def calendar(token: str) -> ResponseReturnValue:
    """Download the calendar file of the event."""
    ticket = load_linked_tickets(token, get_client_network())[0]
    return _build_download(ticket.build_calendar_file(), f"{CALENDAR_TYPE}; charset=utf-8", ticket.calendar_name)


@blueprint.get("/<token>/change")
@handle_ended_ticket
def change(token: str) -> ResponseReturnValue:
    """Show what the guest may do with one ticket."""
    return _render_change(token, PASS_ON.fill())


@blueprint.post("/<token>/change")
@handle_ended_ticket
def pass_on(token: str) -> ResponseReturnValue:
    """Pass the ticket on to another guest. Its code becomes invalid, and the new guest gets another."""
    form = PASS_ON.from_request()
    try:
        guest = actions.pass_on_ticket(token, get_client_network(), **form.load())
    except FORM_ERRORS as error:
        return _render_change(token, form.with_error(error))
    flash(
        gettext(
            "The ticket now belongs to %(name)s. We are sending it to %(email)s.",
            name=guest["name"],
            email=guest["email"],
        )
    )
    return redirect(url_for("ticket.show", token=token), 303)


@blueprint.post("/<token>/give-back")
@handle_ended_ticket
def give_back(token: str) -> ResponseReturnValue:
    """Give the ticket back. It becomes invalid, and its place is free again."""
    try:
        actions.give_back_ticket(token, get_client_network())
    except FORM_ERRORS as error:
        return _render_change(token, PASS_ON.fill().with_error(error))
    flash(gettext("You gave the ticket back."))
    return redirect(url_for("ticket.show", token=token), 303)


def _render_change(token: str, form: FilledForm) -> Response:
    ticket = load_linked_ticket(token, get_client_network())
    return render_form("pages/ticket_change.html", form, token=token, ticket=ticket, contact=ticket.contact)


def _build_download(data: bytes, content_type: str, file_name: str) -> Response:
    headers = {"Content-Disposition": build_attachment_header(file_name), "Cache-Control": "no-store"}
    return Response(data, content_type=content_type, headers=headers)
