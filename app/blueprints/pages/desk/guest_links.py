"""The links of a block: the holder's, by which the holder hands out places, and the open one, by which anybody claims."""

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import actions, queries
from app.allocations.link_summaries import LinkSummary, describe_allocator_link, describe_open_link
from app.blueprints.pages.desk.event_form import format_local_time
from app.blueprints.pages.desk.form_parts import WRONG_NUMBER
from app.blueprints.pages.desk.guest_block import build_block_path, get_event_block
from app.blueprints.pages.desk.guest_block_form import IN_THE_PAST, MAX_PLACES
from app.blueprints.pages.desk.guest_words import name_block, reword
from app.blueprints.pages.desk.guests import MAIL, blueprint
from app.blueprints.pages.desk.shell import do_once, go_to, render_confirmation, render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import AppError, NotFound
from app.core.languages import gettext, lazy_gettext
from app.events.queries import OwnEvent
from app.web.fields import Boolean, EndTimeField, WholeNumber
from app.web.scans import MAX_PARTY_SIZE
from app.web.schema import Query

NUMBER = {
    "invalid_type": WRONG_NUMBER,
    "too_small": lazy_gettext("Enter 1 or more."),
    "too_large": lazy_gettext("Enter a smaller number."),
}
ROTATE = Input("rotate", lazy_gettext("Make a new link; the old one ends at once"), type="checkbox")


class HolderLinkSchema(Query):
    mail = Boolean(load_default=False)
    rotate = Boolean(load_default=False)


class OpenLinkSchema(Query):
    max_claims = WholeNumber(min=1, max=MAX_PLACES)
    max_per_claim = WholeNumber(min=1, max=MAX_PARTY_SIZE)
    expires_at = EndTimeField()
    rotate = Boolean(load_default=False)


OPEN_LINK = Form(
    OpenLinkSchema,
    Input(
        "maxClaims",
        lazy_gettext("Places in all"),
        hint=lazy_gettext("Empty: all free places of the block."),
        inputmode="numeric",
        messages={
            **NUMBER,
            "too_small": lazy_gettext("Enter 1 or more, and at least as many places as are taken already."),
        },
    ),
    Input(
        "maxPerClaim",
        lazy_gettext("Places for one guest"),
        hint=lazy_gettext("Empty: one. More make a party."),
        inputmode="numeric",
        messages=NUMBER,
    ),
    Input(
        "expiresAt",
        lazy_gettext("Works until"),
        hint=lazy_gettext("Empty: until the block ends."),
        type="datetime-local",
        messages=IN_THE_PAST,
    ),
    ROTATE,
)
ENDS = {
    "holder": (
        lazy_gettext("End the holder’s link?"),
        lazy_gettext(
            "The holder can no longer hand out places. Guests keep their tickets. You can make a new link later."
        ),
    ),
    "open": (
        lazy_gettext("End the link for guests?"),
        lazy_gettext(
            "Nobody can claim a ticket with this link any more. Guests keep their tickets. You can make a new "
            "link later."
        ),
    ),
}


@blueprint.page("/<block_id>/holder-link", access=MAIL)
def show_holder_link(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Ask whether to mail the holder's link, or a new one."""
    event, block = get_event_block(caller, event_id, block_id)
    form = _build_holder_form(block)
    return _render_holder_form(event, block, form.fill(mail="" if block["allocator_live"] else "true"))


@blueprint.act("/<block_id>/holder-link", access=MAIL)
def make_holder_link(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Make the holder's link or keep it, mail it if that was chosen, and show it."""
    event, block = get_event_block(caller, event_id, block_id)
    form = _build_holder_form(block).from_request()

    def make() -> str:
        values = form.load()
        linked_block = actions.update_allocator_link(caller, event_id, block_id, **values)
        return str(linked_block["holder_email"] or "") if values["mail"] else ""

    try:
        mailed_to = do_once(caller, make)
    except FORM_ERRORS as error:
        return _render_holder_form(event, block, form.with_error(reword(error)))
    link = describe_allocator_link(queries.get_block(caller, event_id, block_id))
    return _render_link(event, block, gettext("The holder’s link"), link, mailed_to=mailed_to)


@blueprint.page("/<block_id>/open-link", access=MAIL)
def show_open_link(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the limits of the open link."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_open_form(event, block, _fill_open_form(block))


@blueprint.act("/<block_id>/open-link", access=MAIL)
def make_open_link(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Make the open link or keep it, save its limits, and show it."""
    event, block = get_event_block(caller, event_id, block_id)
    form = _get_open_form(block).from_request()

    def make() -> str:
        actions.update_open_link(caller, event_id, block_id, **form.load())
        return ""

    try:
        do_once(caller, make)
    except FORM_ERRORS as error:
        return _render_open_form(event, block, form.with_error(reword(error)))
    link = describe_open_link(queries.get_block(caller, event_id, block_id))
    return _render_link(event, block, gettext("The link for guests"), link)


@blueprint.page("/<block_id>/links/<name>/end", access=MAIL)
def confirm_link_end(caller: Caller, event_id: str, block_id: str, name: str) -> ResponseReturnValue:
    """Say what the end of a link means."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_end(event, block, name)


@blueprint.act("/<block_id>/links/<name>/end", access=MAIL)
def end_link(caller: Caller, event_id: str, block_id: str, name: str) -> ResponseReturnValue:
    """End a link of a block."""
    event, block = get_event_block(caller, event_id, block_id)
    if name not in ENDS:
        raise NotFound()
    end = actions.update_allocator_link if name == "holder" else actions.update_open_link
    try:
        end(caller, event_id, block_id, revoke=True)
    except FORM_ERRORS as error:
        return _render_end(event, block, name, reword(error))
    return go_to(build_block_path(event_id, block_id), gettext("The link has ended."))


def _build_holder_form(block: queries.BlockRow) -> Form:
    """The form of the holder's link: it offers a mail if there is an address, and another link if there is one."""
    mail = Input("mail", gettext("Mail it to %(address)s", address=block["holder_email"]), type="checkbox")
    return Form(
        HolderLinkSchema, *((mail,) if block["holder_email"] else ()), *((ROTATE,) if block["allocator_live"] else ())
    )


def _get_open_form(block: queries.BlockRow) -> Form:
    return OPEN_LINK if block["open_live"] else OPEN_LINK.without("rotate")


def _fill_open_form(block: queries.BlockRow) -> FilledForm:
    return _get_open_form(block).fill(
        maxClaims=str(block["open_max_claims"] or ""),
        maxPerClaim=str(block["open_max_per_claim"]),
        expiresAt="" if block["open_expired"] else format_local_time(block["open_expires_at"], block["timezone"]),
    )


def _render_holder_form(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    lead = gettext("With this link the holder hands out the free places, changes guests, and takes places back.")
    if not block["holder_email"]:
        lead += " " + gettext("The holder has no e-mail address, so hand the link over yourself.")
    return _render_form(
        event,
        block,
        form,
        "holder",
        title=gettext("Holder’s link: %(name)s", name=name_block(block)),
        lead=lead,
        has_link=block["allocator_live"],
    )


def _render_open_form(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    return _render_form(
        event,
        block,
        form,
        "open",
        title=gettext("Link for guests: %(name)s", name=name_block(block)),
        lead=gettext(
            "Everybody who has the link can claim a ticket, once for each e-mail address. No mail is sent: you "
            "publish the link."
        ),
        has_link=block["open_live"],
    )


def _render_form(
    event: OwnEvent, block: queries.BlockRow, form: FilledForm, name: str, *, title: str, lead: str, has_link: bool
) -> Response:
    return render_desk_form(
        form,
        event=event,
        template="desk/guest_link_form.html",
        title=title,
        lead=lead,
        button=gettext("Show the link") if has_link else gettext("Make the link"),
        back=build_block_path(event.id, block["id"]),
        end_path=has_link
        and url_for("desk_guests.confirm_link_end", event_id=event.id, block_id=block["id"], name=name),
    )


def _render_link(
    event: OwnEvent, block: queries.BlockRow, title: str, link: LinkSummary, *, mailed_to: str = ""
) -> Response:
    return render_desk(
        "desk/guest_link.html",
        event=event,
        title=title,
        link=link,
        mailed_to=mailed_to,
        name=name_block(block),
        back=build_block_path(event.id, block["id"]),
    )


def _render_end(event: OwnEvent, block: queries.BlockRow, name: str, error: AppError | None = None) -> Response:
    if name not in ENDS:
        raise NotFound()
    title, text = ENDS[name]
    return render_confirmation(
        event=event,
        title=title,
        text=text,
        button=gettext("End the link"),
        back=build_block_path(event.id, block["id"]),
        is_dangerous=True,
        error=error,
    )
