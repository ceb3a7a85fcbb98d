"""The holder's page: how many places are left, who has the others; hand out, rename, take back."""

from typing import Any

from flask import Response, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.allocations import actions, link_queries
from app.allocations.states import DELIVERIES, E_TICKET
from app.blueprints.console.claim import dead_page
from app.blueprints.console.forms import REFUSALS, FilledForm, Form, Input, form_page
from app.blueprints.console.rendering import Pages, page
from app.core.date_format import format_time
from app.core.errors import AppError, Gone, NotFound
from app.core.ids import is_id
from app.web.fields import Boolean, Choice, Email
from app.web.rate_limits import get_client_network
from app.web.schema import Query
from app.web.text_fields import EmailName

PAGE, SLOT_PAGE, NOTICE = "console/allocator.html", "console/allocator_slot.html", "allocator_told"
blueprint = Pages("allocator", __name__, url_prefix="/allocator")
STATUS_LABELS = {"claimed": "Handed out", "admitted": "Admitted", "invited": "Invited"}


class HandOutSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email(required=True)
    delivery = Choice(*DELIVERIES)
    allow_duplicates = Boolean()


class RenameSchema(Query):
    name = EmailName(required=True, min=1, max=200)
    email = Email(required=True)


NAME = Input(
    "name",
    "Name of the guest",
    says={
        "required": "Enter the name of the guest.",
        "too_long": "The name may have 200 characters.",
        "link_not_allowed": "Enter a name, not the address of a web page.",
    },
)
WRONG_EMAIL = "Enter an e-mail address like frieda@example.com."
EMAIL = Input(
    "email",
    "E-mail address of the guest",
    hint="The ticket is sent there.",
    type="email",
    inputmode="email",
    says={
        "required": WRONG_EMAIL,
        "invalid_email": WRONG_EMAIL,
        "ALREADY_CLAIMED": "This address has a place already. To give it another one, tick the box below.",
    },
    about=("ALREADY_CLAIMED",),
)
AGAIN = Input("allowDuplicates", "Give this address another place")
HAND_OUT = Form(HandOutSchema, NAME, EMAIL, Input("delivery", "How does the guest get in?"), AGAIN)
RENAME = Form(RenameSchema, NAME, EMAIL)


def dead(token: str, error: AppError) -> Response:
    """What the page says for a link that opens nothing (any more)."""
    return page("console/link_unknown.html", status=404) if isinstance(error, NotFound) else dead_page(token, error)


@blueprint.get("/<token>")
def start(token: str) -> ResponseReturnValue:
    """How many places are left, and who has the others."""
    try:
        return _page(token, HAND_OUT.blank(delivery=E_TICKET))
    except (Gone, NotFound) as error:
        return dead(token, error)


@blueprint.post("/<token>")
def hand_out(token: str) -> ResponseReturnValue:
    """Gives somebody a place."""
    form = HAND_OUT.typed()
    try:
        done = actions.hand_out_slots(token, get_client_network(), **form.checked())
    except (Gone, NotFound) as error:
        return dead(token, error)
    except REFUSALS as error:
        return _page(token, form.refused(error))
    return _notice(token, f"{done['name']} has a place. A mail is on its way to {done['email']}.")


@blueprint.get("/<token>/<slot_id>")
def slot(token: str, slot_id: str) -> ResponseReturnValue:
    """One place that was handed out, to be renamed or taken back."""
    try:
        return _slot_page(token, slot_id)
    except (Gone, NotFound) as error:
        return dead(token, error)


@blueprint.post("/<token>/<slot_id>")
def rename(token: str, slot_id: str) -> ResponseReturnValue:
    """Gives the place to somebody else: the old ticket dies, and a new one goes out."""
    form = RENAME.typed()
    try:
        done = actions.reassign_slot(token, get_client_network(), slot_id=slot_id, **form.checked())
    except (Gone, NotFound) as error:
        return dead(token, error)
    except REFUSALS as error:
        return _slot_page(token, slot_id, form.refused(error))
    return _notice(token, f"The place is {done['name']}’s now. The earlier ticket no longer works.")


@blueprint.post("/<token>/<slot_id>/take-back")
def take_back(token: str, slot_id: str) -> ResponseReturnValue:
    """Takes the place back: its ticket dies, and it is free again."""
    try:
        done = actions.reclaim_slot(token, get_client_network(), slot_id=slot_id)
    except (Gone, NotFound) as error:
        return dead(token, error)
    except REFUSALS as error:
        return _slot_page(token, slot_id, RENAME.blank().refused(error))
    return _notice(token, f"You have taken the place of {done['name']} back. It is free again.")


def _notice(token: str, sentence: str) -> ResponseReturnValue:
    session[NOTICE] = sentence
    return redirect(url_for("allocator.start", token=token), 303)


def _page(token: str, form: FilledForm) -> Response:
    allocator_block = link_queries.get_allocator_block(token, get_client_network())
    after = request.args.get("after", "")
    slot_page = link_queries.load_allocator_slot_page(allocator_block["id"], after if is_id(after) else "")
    return form_page(
        PAGE,
        form,
        token=token,
        slot_page=slot_page,
        notice=session.pop(NOTICE, ""),
        status_labels=STATUS_LABELS,
        **_block_context(allocator_block),
    )


def _slot_page(token: str, slot_id: str, form: FilledForm | None = None) -> Response:
    """Raises NotFound for a place that this holder has not given out."""
    allocator_block = link_queries.get_allocator_block(token, get_client_network())
    slot = link_queries.find_allocator_slot(allocator_block["id"], slot_id) if is_id(slot_id) else None
    if slot is None:
        raise NotFound()
    form = form or RENAME.blank(name=slot["name"] or "", email=slot["email"] or "")
    return form_page(
        SLOT_PAGE, form, token=token, slot=slot, status_labels=STATUS_LABELS, **_block_context(allocator_block)
    )


def _block_context(block: link_queries.AllocatorBlock) -> dict[str, Any]:
    zone = block["timezone"]
    return {
        "block": block,
        "contact": block["contact_email"],
        "begins": format_time(block["starts_at"], zone),
        "until": format_time(block["release_at"], zone) if block["release_at"] else "",
        "where": ", ".join(item for item in (block["venue"], block["city"]) if item),
    }
