"""The page of an invitation link: the event, the terms and the next steps, or why the link is no longer valid."""

from dataclasses import dataclass

from flask import Response

from app.blueprints.pages.rendering import Pages, render_page
from app.core.formatting import format_money, format_time
from app.core.languages import gettext, lazy_gettext
from app.invitations import queries
from app.invitations.states import ACCEPTED, DECLINED, EXPIRED, LINK_EXPIRED, REVOKED, USED_UP, WITHDRAWN
from app.web.rate_limits import Limit, count_lookup_failure, count_request, limit_failed_lookups

blueprint = Pages("merchant_invite", __name__, url_prefix="/merchant-invite", translated=True)

# The page and the API operation share one rate limit.
READ_LIMIT, ROUTE = Limit(120), "/api/events/merchant-invite/<slug>"


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
GONE = {LINK_EXPIRED, EXPIRED, REVOKED, WITHDRAWN, USED_UP}


@blueprint.get("/<slug>")
@limit_failed_lookups
def invitation(slug: str) -> Response:
    """Show an open or a personal invitation. Raises NotFound."""
    count_request(READ_LIMIT, ROUTE)
    invitation_page = queries.get_invitation_page(slug)
    status = 410 if invitation_page.state in GONE else 200
    if status == 410:
        count_lookup_failure()
    return render_page("pages/invitation.html", status=status, **_build_context(invitation_page))


def _build_context(invite: queries.InvitationPage) -> dict[str, object]:
    zone, fee = invite.timezone, invite.fee_minor
    return {
        "invite": invite,
        "personal": invite.personal,
        "outcome": OUTCOMES.get(invite.state),
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
