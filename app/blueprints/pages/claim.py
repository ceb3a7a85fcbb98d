"""Claiming a ticket of an allocation with a link; then the browser is sent to the page of the ticket."""

from collections.abc import Callable
from functools import wraps

from flask import Response, flash, redirect, session, url_for
from flask.typing import ResponseReturnValue

from app.allocations import actions, link_queries
from app.allocations.errors import NoSlotsLeft
from app.allocations.states import DELIVERIES, E_TICKET
from app.allocations.ticket_links import load_linked_tickets
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, describe_error, render_page
from app.core.errors import AppError, Gone, NotFound
from app.core.formatting import format_period, format_time
from app.core.languages import gettext, lazy_gettext
from app.core.tokens import fingerprint
from app.events.visit import format_validity
from app.web.fields import Choice, Email, Phone, WholeNumber
from app.web.rate_limits import get_client_network
from app.web.schema import Query
from app.web.text_fields import EmailName

PAGE, TICKETS_KEY, MAX_CLAIMS = "pages/claim.html", "tickets", 8
blueprint = Pages("claim", __name__, url_prefix="/claim", translated=True)
View = Callable[..., ResponseReturnValue]
TEXTS_BY_ERROR = {
    "LINK_USED": (
        lazy_gettext("Somebody has claimed this ticket"),
        lazy_gettext(
            "We sent it to the e-mail address that was entered. Look in that mailbox, and in its spam folder."
        ),
    ),
    "LINK_EXPIRED": (lazy_gettext("This link has expired"), ""),
    "NO_SLOTS_LEFT": (
        lazy_gettext("All tickets are taken"),
        lazy_gettext("If somebody gives a ticket back, you can claim it with this same link."),
    ),
}


class ClaimSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email(required=True)
    phone = Phone(min=8, max=20)
    delivery = Choice(*DELIVERIES, required=True)
    quantity = WholeNumber(min=1, max=100)


def _build_form(max_quantity: int) -> Form:
    """The form. It asks for a quantity only if the link allows more than one ticket."""
    quantity = Input(
        "quantity",
        lazy_gettext("How many tickets"),
        hint=gettext("From 1 to %(max)s. Each ticket has its own code.", max=max_quantity),
        inputmode="numeric",
        messages={
            "invalid_type": lazy_gettext("Enter a number, like 2."),
            "too_small": lazy_gettext("Enter 1 or more."),
            "too_large": gettext("Enter %(max)s or less.", max=max_quantity),
        },
    )
    inputs = (NAME, EMAIL, PHONE, DELIVERY)
    return Form(ClaimSchema, *inputs, *((quantity,) if max_quantity > 1 else ()))


NAME = Input(
    "name",
    lazy_gettext("Name of the guest"),
    hint=lazy_gettext("As it is in your identity document."),
    autocomplete="name",
    messages={
        "required": lazy_gettext("Enter the name of the guest."),
        "too_long": lazy_gettext("Shorten the name to 200 characters."),
        "link_not_allowed": lazy_gettext("Enter a name, not the address of a web page."),
    },
)
WRONG_EMAIL = lazy_gettext("Enter an e-mail address like frieda@example.com.")
EMAIL = Input(
    "email",
    lazy_gettext("E-mail address"),
    hint=lazy_gettext("We send the ticket there."),
    type="email",
    autocomplete="email",
    inputmode="email",
    messages={"required": WRONG_EMAIL, "invalid_email": WRONG_EMAIL},
    error_codes=("ALREADY_CLAIMED",),
)
WRONG_PHONE = lazy_gettext("Enter a phone number like 081 123 4567, or leave this empty.")
PHONE = Input(
    "phone",
    lazy_gettext("Phone number"),
    type="tel",
    autocomplete="tel",
    inputmode="tel",
    messages={"invalid_phone": WRONG_PHONE, "too_short": WRONG_PHONE, "too_long": WRONG_PHONE},
)
DELIVERY = Input(
    "delivery",
    lazy_gettext("How do you want to get in?"),
    messages={"required": lazy_gettext("Choose one of the two.")},
)


def handle_unusable_link(view: View) -> View:
    """Decorate the view of a link; ended and unknown links get a page that explains them."""

    @wraps(view)
    def wrapper(token: str, **arguments: str) -> ResponseReturnValue:
        try:
            return view(token=token, **arguments)
        except (Gone, NoSlotsLeft) as error:
            return render_ended_link(token, error)
        except NotFound:
            return render_page("pages/link_unknown.html", status=404)

    return wrapper


def render_ended_link(token: str, error: AppError, *, title: str = "") -> Response:
    """Return the page that says why a link no longer works, with a title of its own or that of the error."""
    error_title, hint = TEXTS_BY_ERROR[error.code]
    link_contact = link_queries.find_link_contact(token)
    return render_page(
        "pages/claim_ended.html",
        status=error.status,
        title=title or error_title,
        hint=hint or describe_error(error),
        link_contact=link_contact,
    )


@blueprint.get("/<token>")
@handle_unusable_link
def start(token: str) -> ResponseReturnValue:
    """Show the offer of the link. A browser that has claimed it already is sent to its ticket."""
    ticket_token = _find_claim(token)
    if ticket_token is not None:
        return redirect(url_for("ticket.show", token=ticket_token), 303)
    claim_offer = link_queries.get_claim_offer(token, get_client_network())
    contact_values = {
        "name": claim_offer.get("name") or "",
        "email": claim_offer.get("email") or "",
        "phone": claim_offer.get("phone") or "",
    }
    return _render(
        token,
        claim_offer,
        _build_form(claim_offer["max_per_claim"]).fill(**contact_values, delivery=E_TICKET, quantity="1"),
    )


@blueprint.post("/<token>")
@handle_unusable_link
def claim(token: str) -> ResponseReturnValue:
    """Claim the ticket. Sending the form again leads to the same ticket."""
    ticket_token = _find_claim(token)
    if ticket_token is not None:
        return redirect(url_for("ticket.show", token=ticket_token), 303)
    claim_offer = link_queries.get_claim_offer(token, get_client_network())
    form = _build_form(claim_offer["max_per_claim"]).from_request()
    try:
        claimed_slot = actions.claim_slot(token, get_client_network(), **form.load())
    except NoSlotsLeft:
        raise
    except FORM_ERRORS as error:
        return _render(token, claim_offer, form.with_error(error))
    ticket_token = claimed_slot["ticket_url"].rpartition("/")[2]
    _store_claim(token, ticket_token)
    flash(gettext("We are also sending an e-mail to %(email)s.", email=claimed_slot["email"]))
    return redirect(url_for("ticket.show", token=ticket_token), 303)


def _render(token: str, offer: link_queries.ClaimOffer, form: FilledForm) -> Response:
    zone = offer["timezone"]
    until = offer.get("expires_at") or offer["release_at"]
    return render_form(
        PAGE,
        form,
        token=token,
        offer=offer,
        contact=offer["contact_email"],
        when=format_validity(offer["valid_from"], offer["valid_until"], zone)
        or format_period(offer["starts_at"], offer["ends_at"], zone),
        until=format_time(until, zone) if until else "",
        place=", ".join(part for part in (offer["venue"], offer["city"]) if part),
    )


def _find_claim(token: str) -> str | None:
    """The token of the ticket that this browser claimed with the link and still has, from the signed cookie."""
    ticket_token: str | None = session.get(TICKETS_KEY, {}).get(_hash_token(token))
    if ticket_token is None:
        return None
    try:
        load_linked_tickets(ticket_token, get_client_network())
    except (Gone, NotFound):
        return None
    return ticket_token


def _store_claim(token: str, ticket_token: str) -> None:
    ticket_token_by_hash = {**session.get(TICKETS_KEY, {}), _hash_token(token): ticket_token}
    session[TICKETS_KEY] = dict(list(ticket_token_by_hash.items())[-MAX_CLAIMS:])
    session.permanent = True


def _hash_token(token: str) -> str:
    return fingerprint(token)[:16]
