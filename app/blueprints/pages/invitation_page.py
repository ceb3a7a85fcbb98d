"""The page of an invitation: the event, the terms and the answer, or why the invitation is no longer valid.

A link has the form of an application. A merchant with an account, who was invited from the directory, accepts or
declines after signing in.
"""

from dataclasses import dataclass, replace

from flask import Response, redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import MERCHANT, STALL_MANAGE
from app.applications.form_terms import build_link_terms
from app.blueprints.pages import signed_in
from app.blueprints.pages.apply_form import build_form, build_form_context, receive_form, show_form, was_sent
from app.blueprints.pages.csrf import get_page_path
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.core.errors import Gone, NotFound
from app.core.formatting import format_money, format_time
from app.core.languages import gettext, lazy_gettext
from app.invitations import actions, queries
from app.invitations.errors import InviteUsed
from app.invitations.states import (
    ACCEPTED,
    ANSWERS,
    DECLINED,
    EXPIRED,
    LINK_EXPIRED,
    OPEN,
    PENDING,
    REVOKED,
    USED_UP,
    WITHDRAWN,
)
from app.web.access import check_access, may
from app.web.fields import Choice, Text
from app.web.rate_limits import Limit, count_lookup_failure, count_request, limit_failed_lookups
from app.web.schema import Query

blueprint = Pages("merchant_invite", __name__, url_prefix="/merchant-invite", translated=True)

# The page and the API operation share one rate limit.
READ_LIMIT, ROUTE = Limit(120), "/api/events/merchant-invite/<slug>"
MANAGERS = may(STALL_MANAGE).with_verified_email()


class AnswerSchema(Query):
    status = Choice(*ANSWERS, required=True)
    message = Text(max=1000)


ANSWER = Form(
    AnswerSchema,
    Input(
        "message",
        lazy_gettext("Message to the organiser"),
        hint=lazy_gettext("What your stall needs, such as power or water."),
        messages={"too_long": lazy_gettext("Shorten the message to 1,000 characters.")},
    ),
    Input("status", ""),
)


@dataclass(frozen=True)
class Outcome:
    """How an invitation ended. `is_final`: the organiser has to send a new one."""

    title: str
    text: str
    is_success: bool = False
    is_final: bool = True


EXPIRED_OUTCOME = Outcome(
    lazy_gettext("This invitation has expired"),
    lazy_gettext("If you still want to take part, ask the organiser for a new invitation. The address is below."),
)
WITHDRAWN_OUTCOME = Outcome(
    lazy_gettext("This invitation is no longer valid"),
    lazy_gettext(
        "The organiser withdrew it, or cancelled the event. If you still want to take part, ask the organiser for a new "
        "invitation. The address is below."
    ),
)
OUTCOMES = {
    LINK_EXPIRED: EXPIRED_OUTCOME,
    EXPIRED: EXPIRED_OUTCOME,
    REVOKED: WITHDRAWN_OUTCOME,
    WITHDRAWN: WITHDRAWN_OUTCOME,
    USED_UP: Outcome(
        lazy_gettext("This invitation has been used"),
        lazy_gettext(
            "The maximum number of businesses have applied with it. If you still want to take part, ask the organiser "
            "for a new invitation. The address is below."
        ),
    ),
    ACCEPTED: Outcome(
        lazy_gettext("You take part"),
        lazy_gettext("You have accepted this invitation, and the organiser knows."),
        is_success=True,
    ),
    DECLINED: Outcome(
        lazy_gettext("You have declined"),
        lazy_gettext("The organiser knows. If you change your mind, write to them."),
        is_final=False,
    ),
}
PAGE = "pages/invitation.html"
FEE_DUE_OUTCOME = Outcome(
    lazy_gettext("You have accepted"),
    lazy_gettext("There is a stall fee. The link to pay it is in your e-mail. You take part when it is paid."),
    is_success=True,
)
GONE = {LINK_EXPIRED, EXPIRED, REVOKED, WITHDRAWN, USED_UP}


@blueprint.get("/<slug>")
@limit_failed_lookups
def invitation(slug: str) -> Response:
    """Show an open or a personal invitation. Raises NotFound."""
    count_request(READ_LIMIT, ROUTE)
    invitation_page = queries.get_invitation_page(slug)
    if isinstance(invitation_page, queries.InviteLinkDetails) and invitation_page.state == OPEN:
        form, is_draft_gone = show_form(build_link_terms(invitation_page))
        return _render_link(invitation_page, form, is_draft_gone=is_draft_gone)
    if invitation_page.personal and invitation_page.state == PENDING:
        return _render_personal(invitation_page, ANSWER.fill())
    return _render_ended(invitation_page)


@blueprint.post("/<slug>")
@limit_failed_lookups
def apply(slug: str) -> ResponseReturnValue:
    """Apply with what was typed, on the terms of the link."""
    try:
        link = queries.get_active_invite_link(slug)
        terms = build_link_terms(link)
        form = build_form(terms).from_request()
        try:
            return receive_form(form, terms)
        except FORM_ERRORS as error:
            return _render_link(link, form.with_error(error))
    except InviteUsed:
        used_link = queries.get_invitation_page(slug)
        if isinstance(used_link, queries.InviteLinkDetails):
            terms = build_link_terms(used_link)
            if was_sent(build_form(terms).from_request(), terms):
                return redirect(url_for("apply.show_sent"), 303)
        return _render_ended(used_link)
    except Gone:
        return _render_ended(queries.get_invitation_page(slug))


@blueprint.post("/<slug>/decline")
@limit_failed_lookups
def decline(slug: str) -> ResponseReturnValue:
    """Decline an invitation that was mailed to one address."""
    count_request(READ_LIMIT, ROUTE)
    try:
        actions.decline_link(slug=slug)
    except Gone:
        return _render_ended(queries.get_invitation_page(slug))
    return redirect(url_for("merchant_invite.invitation", slug=slug), 303)


@blueprint.post("/<slug>/answer")
@limit_failed_lookups
def answer(slug: str) -> ResponseReturnValue:
    """Accept or decline the invitation of a merchant. They come back to it after signing in."""
    count_request(READ_LIMIT, ROUTE)
    invite = queries.get_invitation_page(slug)
    invite_id = queries.parse_slug(slug, queries.INVITE_KIND)
    if invite_id is None or invite.merchant_id is None:
        raise NotFound()
    caller = _find_merchant(invite.merchant_id)
    page_path = url_for("merchant_invite.invitation", slug=slug)
    if caller is None:
        return redirect(url_for("sign_in.start", next=page_path), 303)
    form = ANSWER.from_request()
    try:
        check_access(MANAGERS, caller)
        actions.answer_invite(caller=caller, invite_id=invite_id, expected_version=None, **form.load())
    except FORM_ERRORS as error:
        return _render_personal(invite, form.with_error(error))
    except Gone:
        return _render_ended(queries.get_invitation_page(slug))
    return redirect(page_path, 303)


def _find_merchant(merchant_id: str) -> Caller | None:
    """Return the signed-in person as a member of this business; None for anybody else."""
    caller = signed_in.get_page_caller()
    if caller is None or merchant_id not in signed_in.list_team_ids(caller, MERCHANT):
        return None
    return replace(caller, team_id=merchant_id).for_permission(STALL_MANAGE)


def _render_link(link: queries.InviteLinkDetails, form: FilledForm, *, is_draft_gone: bool = False) -> Response:
    terms = build_link_terms(link)
    context = {**_build_context(link), **build_form_context(terms)}
    # A fee of the list is next to its stall type, in the form.
    context["fee"] = "" if terms.has_listed_fee and terms.fee_minor is None else _format_fee(terms.fee_minor)
    return render_form(
        PAGE, form, next=get_page_path(), is_draft_gone=is_draft_gone, can_decline=link.email is not None, **context
    )


def _render_personal(invite: queries.InvitationPage, form: FilledForm) -> Response:
    assert invite.merchant_id is not None
    caller, merchant = signed_in.get_page_caller(), _find_merchant(invite.merchant_id)
    return render_form(
        PAGE,
        form,
        next=get_page_path(),
        may_answer=merchant is not None and MANAGERS.allows(merchant),
        signed_in_as=caller.email if caller else "",
        **_build_context(invite),
    )


def _render_ended(invite: queries.InvitationPage) -> Response:
    status = 410 if invite.state in GONE else 200
    if status == 410:
        count_lookup_failure()
    return render_page("pages/invitation_ended.html", status=status, **_build_context(invite))


def _build_context(invite: queries.InvitationPage) -> dict[str, object]:
    zone, fee = invite.timezone, invite.fee_minor
    is_fee_due = invite.state == ACCEPTED and bool(fee) and not invite.takes_part
    return {
        "invite": invite,
        "personal": invite.personal,
        "outcome": FEE_DUE_OUTCOME if is_fee_due else OUTCOMES.get(invite.state),
        "begins": format_time(invite.starts_at, zone),
        "ends": format_time(invite.ends_at, zone),
        "until": format_time(invite.expires_at, zone),
        "fee": _format_fee(fee),
        "message_lines": (invite.message or "").splitlines(),
    }


def _format_fee(fee_minor: int | None) -> str:
    if fee_minor is None:
        return gettext("You agree it with the organiser")
    return format_money(fee_minor) if fee_minor else gettext("None")
