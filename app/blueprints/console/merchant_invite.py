"""What an invitation's link opens: the event, the terms, and how to go on; a dead one says why."""

from dataclasses import dataclass

from flask import Response

from app.blueprints.console.rendering import Pages, page
from app.core.date_format import format_time
from app.core.money import format_money
from app.invitations import queries
from app.invitations.states import ACCEPTED, DECLINED, EXPIRED, LINK_EXPIRED, REVOKED, USED_UP, WITHDRAWN
from app.web.rate_limits import Limit, count_lookup_failure, count_request, limit_failed_lookups

blueprint = Pages("merchant_invite", __name__, url_prefix="/merchant-invite")

# The page counts with the operation it stands for.
READING, ROUTE = Limit(120), "/api/events/merchant-invite/<slug>"


@dataclass(frozen=True)
class Outcome:
    """How an invitation ended: a word, what it means and what to do; `over` when it can bring nothing any more."""

    word: str
    sentence: str
    good: bool = False
    over: bool = True


ASK = "If you still want to take part, write to the organiser at the address below and ask for a new invitation."
OUTCOMES = {
    LINK_EXPIRED: Outcome("This invitation has expired", ASK),
    EXPIRED: Outcome("This invitation has expired", ASK),
    REVOKED: Outcome("This invitation is no longer valid", f"It was withdrawn, or the event was called off. {ASK}"),
    WITHDRAWN: Outcome("This invitation is no longer valid", f"It was withdrawn, or the event was called off. {ASK}"),
    USED_UP: Outcome("This invitation has been used", f"It has reached its limit of applications. {ASK}"),
    ACCEPTED: Outcome("You take part", "You have accepted this invitation, and the organiser knows.", good=True),
    DECLINED: Outcome(
        "You have declined", "The organiser knows. If you have thought again, write to them.", over=False
    ),
}
GONE = {LINK_EXPIRED, EXPIRED, REVOKED, WITHDRAWN, USED_UP}


@blueprint.get("/<slug>")
@limit_failed_lookups
def invitation(slug: str) -> Response:
    """Shows an invitation, of anybody who holds the link or of one merchant. Raises NotFound."""
    count_request(READING, ROUTE)
    invitation_page = queries.get_invitation_page(slug)
    status = 410 if invitation_page.state in GONE else 200
    if status == 410:
        count_lookup_failure()
    return page("console/merchant_invite.html", status=status, **_render_invitation(invitation_page))


def _render_invitation(invite: queries.InvitationPage) -> dict[str, object]:
    zone, fee = invite.timezone, invite.fee_minor
    return {
        "invite": invite,
        "personal": invite.personal,
        "outcome": OUTCOMES.get(invite.state),
        "begins": format_time(invite.starts_at, zone),
        "ends": format_time(invite.ends_at, zone),
        "until": format_time(invite.expires_at, zone),
        "fee": "Agreed with the organiser" if fee is None else format_money(fee) if fee else "None",
        "lines": (invite.message or "").splitlines(),
    }
