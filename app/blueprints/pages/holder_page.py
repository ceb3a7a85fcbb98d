"""The page of an allocation's holder: hand out tickets, change their guests, take them back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypedDict

from flask import Response, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError, validates_schema

from app.allocations import actions, link_queries
from app.allocations.actions.guest_lists import Recipient
from app.allocations.states import DELIVERIES, E_TICKET, WILL_CALL
from app.blueprints.pages.claim import render_ended_link
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import AppError, Gone, NotFound, ValidationFailed
from app.core.formatting import format_time, format_when
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.events.visit import format_validity
from app.web.fields import Boolean, Choice, Email, field_error
from app.web.rate_limits import get_client_network
from app.web.schema import Query
from app.web.text_fields import EmailName

PAGE, SLOT_PAGE, NOTICE_KEY = "pages/holder.html", "pages/holder_slot.html", "allocator_notice"
blueprint = Pages("allocator", __name__, url_prefix="/allocator", translated=True)
STATUS_LABELS = {
    "claimed": lazy_gettext("Has a ticket"),
    "admitted": lazy_gettext("Admitted"),
    "invited": lazy_gettext("Invited"),
}


class HandOutSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email()
    delivery = Choice(*DELIVERIES)
    allow_duplicates = Boolean()

    @validates_schema
    def check_email(self, values: dict[str, Any], **_: Any) -> None:
        if not values.get("email") and values.get("delivery") != WILL_CALL:
            raise ValidationError({"email": field_error("required", str(WRONG_EMAIL)).messages})


class RenameSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email(required=True)


class RenameAtGateSchema(RenameSchema):
    email = Email()


NAME = Input(
    "name",
    lazy_gettext("Name of the guest"),
    messages={
        "required": lazy_gettext("Enter the name of the guest."),
        "too_long": lazy_gettext("Shorten the name to 200 characters."),
        "link_not_allowed": lazy_gettext("Enter a name, not the address of a web page."),
    },
)
WRONG_EMAIL = lazy_gettext("Enter an e-mail address like frieda@example.com.")
EMAIL = Input(
    "email",
    lazy_gettext("E-mail address of the guest"),
    hint=lazy_gettext("We send the ticket there. A guest who is on the list by name needs none."),
    type="email",
    inputmode="email",
    messages={
        "required": WRONG_EMAIL,
        "invalid_email": WRONG_EMAIL,
        "ALREADY_CLAIMED": lazy_gettext(
            "This address already has a ticket. To give it another one, tick the box below."
        ),
    },
    error_codes=("ALREADY_CLAIMED",),
)
ALLOW_DUPLICATES = Input("allowDuplicates", lazy_gettext("Give this address another ticket"))
HAND_OUT = Form(
    HandOutSchema, NAME, EMAIL, Input("delivery", lazy_gettext("How does the guest get in?")), ALLOW_DUPLICATES
)
RENAME = Form(RenameSchema, NAME, EMAIL)
RENAME_AT_GATE = Form(
    RenameAtGateSchema,
    NAME,
    replace(EMAIL, hint=lazy_gettext("If you enter an address, we confirm the place there.")),
)
"""The form for a guest without an address, who is on the list at the gate."""


def render_unusable_link(token: str, error: AppError) -> Response:
    """Return the page for a link that is unknown or no longer works."""
    return (
        render_page("pages/link_unknown.html", status=404)
        if isinstance(error, NotFound)
        else render_ended_link(token, error)
    )


@blueprint.get("/<token>")
def start(token: str) -> ResponseReturnValue:
    """Show the tickets that are left and those that were handed out."""
    try:
        return _render_allocator(token, HAND_OUT.fill(delivery=E_TICKET))
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)


@blueprint.post("/<token>")
def hand_out(token: str) -> ResponseReturnValue:
    """Hand out a ticket."""
    form = HAND_OUT.from_request()
    try:
        values = form.load()
        if not values.get("email"):
            return _list_at_gate(token, values["name"])
        guest = actions.hand_out_slots(token, get_client_network(), **values)
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)
    except FORM_ERRORS as error:
        return _render_allocator(token, form.with_error(error))
    return redirect_with_notice(
        token,
        gettext(
            "%(name)s has a ticket. We are sending an e-mail to %(email)s.", name=guest["name"], email=guest["email"]
        ),
    )


def _list_at_gate(token: str, name: str) -> ResponseReturnValue:
    """Put a guest without an address on the list at the gate. Raises what `hand_out_list` raises."""
    guests: list[Recipient] = [{"name": name, "delivery": WILL_CALL}]
    if actions.hand_out_list(token, get_client_network(), recipients=guests)["duplicates"]:
        message = gettext("A guest of this name is on the list already. Write the name in another way.")
        raise ValidationFailed.of("name", "duplicate", message)
    return redirect_with_notice(token, gettext("%(name)s is on the list at the gate.", name=name))


@blueprint.get("/<token>/<slot_id>")
def slot(token: str, slot_id: str) -> ResponseReturnValue:
    """Show one ticket that was handed out."""
    try:
        return _render_slot(token, slot_id)
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)


@blueprint.post("/<token>/<slot_id>")
def rename(token: str, slot_id: str) -> ResponseReturnValue:
    """Give the ticket to another guest. The old ticket becomes invalid, and a new one is sent."""
    form = RENAME.from_request()
    try:
        if not form.value("email").strip():
            form = _choose_rename_form(_get_slot(token, slot_id)[1]).from_request()
        guest = actions.reassign_slot(token, get_client_network(), slot_id=slot_id, **form.load())
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)
    except FORM_ERRORS as error:
        return _render_slot(token, slot_id, form.with_error(error))
    return redirect_with_notice(
        token, gettext("The ticket now belongs to %(name)s. The earlier ticket no longer works.", name=guest["name"])
    )


@blueprint.post("/<token>/<slot_id>/take-back")
def take_back(token: str, slot_id: str) -> ResponseReturnValue:
    """Take the ticket back. It becomes invalid, and its place can be handed out again."""
    try:
        guest = actions.reclaim_slot(token, get_client_network(), slot_id=slot_id)
    except (Gone, NotFound) as error:
        return render_unusable_link(token, error)
    except FORM_ERRORS as error:
        return _render_slot(token, slot_id, RENAME.fill().with_error(error))
    return redirect_with_notice(
        token, gettext("You took back the ticket of %(name)s. You can hand it out again.", name=guest["name"])
    )


def redirect_with_notice(token: str, notice: str) -> ResponseReturnValue:
    """Say this on the page with all tickets."""
    session[NOTICE_KEY] = notice
    return redirect(url_for("allocator.start", token=token), 303)


def _render_allocator(token: str, form: FilledForm) -> Response:
    allocator_block = link_queries.get_allocator_block(token, get_client_network())
    after = request.args.get("after", "")
    slot_page = link_queries.load_allocator_slot_page(allocator_block["id"], after if is_id(after) else "")
    return render_form(
        PAGE,
        form,
        token=token,
        slot_page=slot_page,
        notice=session.pop(NOTICE_KEY, ""),
        **build_context(allocator_block),
    )


def _get_slot(token: str, slot_id: str) -> tuple[link_queries.AllocatorBlock, Mapping[Any, Any]]:
    """Return the block of the link and one of its slots. Raises NotFound unless this holder handed it out."""
    allocator_block = link_queries.get_allocator_block(token, get_client_network())
    slot = link_queries.find_allocator_slot(allocator_block["id"], slot_id) if is_id(slot_id) else None
    if slot is None:
        raise NotFound()
    return allocator_block, slot


def _choose_rename_form(slot: Mapping[Any, Any]) -> Form:
    return RENAME if slot["email"] else RENAME_AT_GATE


def _render_slot(token: str, slot_id: str, form: FilledForm | None = None) -> Response:
    """Return the page of a slot. Raises NotFound unless this holder handed it out."""
    allocator_block, slot = _get_slot(token, slot_id)
    form = form or _choose_rename_form(slot).fill(name=slot["name"] or "", email=slot["email"] or "")
    return render_form(SLOT_PAGE, form, token=token, slot=slot, **build_context(allocator_block))


class BlockContext(TypedDict):
    """The template variables of both pages; times are formatted in the zone of the event."""

    block: link_queries.AllocatorBlock
    contact: str
    when: str
    until: str
    status_labels: dict[str, str]


def build_context(block: link_queries.AllocatorBlock) -> BlockContext:
    """Return the variables that the templates of the holder's pages share."""
    zone = block["timezone"]
    return {
        "block": block,
        "contact": block["contact_email"],
        "when": format_validity(block["valid_from"], block["valid_until"], zone)
        or format_when(block["starts_at"], block["ends_at"], zone),
        "until": format_time(block["release_at"], zone) if block["release_at"] else "",
        "status_labels": STATUS_LABELS,
    }
