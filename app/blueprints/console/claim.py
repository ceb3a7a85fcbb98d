"""Claiming a place: who comes, and how the ticket reaches them; then the ticket itself."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, redirect, session, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from app.allocations import actions, link_queries
from app.allocations.errors import NoSlotsLeft
from app.allocations.states import DELIVERIES, E_TICKET
from app.allocations.tickets import qr_codes
from app.allocations.tickets.ticket_data import load_party_tickets
from app.allocations.tickets.ticket_pdf import draw_party_pdf
from app.blueprints.console.forms import REFUSALS, FilledForm, Form, Input, form_page
from app.blueprints.console.rendering import Pages, page
from app.core.date_format import format_time
from app.core.errors import AppError, Gone, NotFound
from app.core.tokens import fingerprint
from app.web.fields import Choice, Email, Phone, WholeNumber
from app.web.rate_limits import get_client_network
from app.web.schema import Query
from app.web.text_fields import EmailName

PAGE, TICKETS, KEPT = "console/claim.html", "tickets", 8
blueprint = Pages("claim", __name__, url_prefix="/claim")
View = Callable[..., ResponseReturnValue]
DEAD = {
    "LINK_USED": (
        "This ticket has been claimed",
        "It went to the address that was given then: look for it in that mailbox, also among unwanted mail.",
    ),
    "LINK_EXPIRED": ("This link has ended", ""),
    "NO_SLOTS_LEFT": (
        "All places are taken",
        "Everybody who was quicker has one of them. If a place is given back, this same link gives it out again.",
    ),
}


class ClaimSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email(required=True)
    phone = Phone(min=8, max=20)
    delivery = Choice(*DELIVERIES, required=True)
    quantity = WholeNumber(min=1, max=100)


def _form(most: int) -> Form:
    """The questions; for how many is asked where the link gives more than one."""
    number = Input(
        "quantity",
        "How many places",
        hint=f"From 1 to {most}. Each gets a code of its own.",
        inputmode="numeric",
        says={"invalid_type": "Enter a number, like 2.", "too_small": "Enter 1 or more."},
    )
    inputs = (NAME, EMAIL, PHONE, DELIVERY)
    return Form(ClaimSchema, *inputs, *((number,) if most > 1 else ()))


NAME = Input(
    "name",
    "Name of the guest",
    hint="As it stands in an identity document.",
    autocomplete="name",
    says={
        "required": "Enter the name of the guest.",
        "too_long": "The name may have 200 characters.",
        "link_not_allowed": "Enter a name, not the address of a web page.",
    },
)
WRONG_EMAIL = "Enter an e-mail address like frieda@example.com."
EMAIL = Input(
    "email",
    "E-mail address",
    hint="The ticket is sent there.",
    type="email",
    autocomplete="email",
    inputmode="email",
    says={"required": WRONG_EMAIL, "invalid_email": WRONG_EMAIL},
    about=("ALREADY_CLAIMED",),
)
WRONG_PHONE = "Enter a telephone number like 081 123 4567, or leave it empty."
PHONE = Input(
    "phone",
    "Telephone",
    type="tel",
    autocomplete="tel",
    inputmode="tel",
    says={"invalid_phone": WRONG_PHONE, "too_short": WRONG_PHONE, "too_long": WRONG_PHONE},
)
DELIVERY = Input("delivery", "How do you want to get in?", says={"required": "Choose one."})


def handle_dead_link(view: View) -> View:
    """The view of a link's page; one that opens nothing any more says why, and whom to ask."""

    @wraps(view)
    def wrapper(token: str, **arguments: Any) -> ResponseReturnValue:
        try:
            return view(token=token, **arguments)
        except (Gone, NoSlotsLeft) as error:
            return dead_page(token, error)
        except NotFound:
            return page("console/link_unknown.html", status=404)

    return wrapper


def dead_page(token: str, error: AppError) -> Response:
    """Why a link opens nothing."""
    title, hint = DEAD[error.code]
    link_contact = link_queries.find_link_contact(token)
    return page(
        "console/claim_ended.html",
        status=error.status,
        title=title,
        hint=hint or error.text,
        link_contact=link_contact,
    )


@blueprint.get("/<token>")
@handle_dead_link
def start(token: str) -> ResponseReturnValue:
    """What the link offers. Anyone who has claimed with this browser sees their ticket."""
    if _claimed_slot(token) is not None:
        return redirect(url_for("claim.ticket", token=token), 303)
    claim_offer = link_queries.get_claim_offer(token, get_client_network())
    known = {
        "name": claim_offer.get("name") or "",
        "email": claim_offer.get("email") or "",
        "phone": claim_offer.get("phone") or "",
    }
    return _page(
        token, claim_offer, _form(claim_offer["max_per_claim"]).blank(**known, delivery=E_TICKET, quantity="1")
    )


@blueprint.post("/<token>")
@handle_dead_link
def claim(token: str) -> ResponseReturnValue:
    """Takes the place; sent twice, it leads to the ticket of the first time."""
    if _claimed_slot(token) is not None:
        return redirect(url_for("claim.ticket", token=token), 303)
    claim_offer = link_queries.get_claim_offer(token, get_client_network())
    form = _form(claim_offer["max_per_claim"]).typed()
    try:
        done = actions.claim_slot(token, get_client_network(), **form.checked())
    except NoSlotsLeft:
        raise
    except REFUSALS as error:
        return _page(token, claim_offer, form.refused(error))
    _remember(token, done["slot_id"])
    return redirect(url_for("claim.ticket", token=token), 303)


@blueprint.get("/<token>/ticket")
def ticket(token: str) -> ResponseReturnValue:
    """The tickets of a claim, for the browser that made it."""
    own = _claimed_slot(token)
    tickets = load_party_tickets(own) if own else []
    if not tickets:
        _forget(token)
        return redirect(url_for("claim.start", token=token), 303)
    codes = [(item, Markup(qr_codes.render_svg(item.code))) for item in tickets]  # noqa: S704
    first = tickets[0]
    return page(
        "console/claim_ticket.html",
        first=first,
        codes=codes,
        token=token,
        contact=first.contact,
        e_ticket=first.delivery == E_TICKET,
    )


@blueprint.get("/<token>/ticket.pdf")
def ticket_pdf(token: str) -> ResponseReturnValue:
    """The same as a document."""
    own = _claimed_slot(token)
    data = draw_party_pdf(own) if own else None
    if data is None:
        return redirect(url_for("claim.start", token=token), 303)
    named = {"Content-Disposition": 'attachment; filename="ticket.pdf"', "Cache-Control": "no-store"}
    return Response(data, content_type="application/pdf", headers=named)


def _page(token: str, offer: link_queries.ClaimOffer, form: FilledForm) -> Response:
    zone = offer["timezone"]
    until = offer.get("expires_at") or offer["release_at"]
    return form_page(
        PAGE,
        form,
        token=token,
        offer=offer,
        contact=offer["contact_email"],
        begins=format_time(offer["starts_at"], zone),
        until=format_time(until, zone) if until else "",
        where=", ".join(item for item in (offer["venue"], offer["city"]) if item),
    )


def _claimed_slot(token: str) -> str | None:
    """The place that this browser has claimed with the link: its id, from the signed cookie."""
    value: str | None = session.get(TICKETS, {}).get(_mark(token))
    return value


def _remember(token: str, slot_id: str) -> None:
    kept = {**session.get(TICKETS, {}), _mark(token): slot_id}
    session[TICKETS] = dict(list(kept.items())[-KEPT:])
    session.permanent = True


def _forget(token: str) -> None:
    session[TICKETS] = {mark: id for mark, id in session.get(TICKETS, {}).items() if mark != _mark(token)}


def _mark(token: str) -> str:
    return fingerprint(token)[:16]
