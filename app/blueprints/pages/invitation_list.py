"""The invitations of the signed-in merchant, with their answers."""

from flask import Response

from app.accounts.permissions import STALL_MANAGE, STALL_READ
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import authorise_page, get_team_caller
from app.core.formatting import format_money, format_time
from app.core.languages import gettext, lazy_gettext
from app.invitations import queries
from app.invitations.states import ACCEPTED, DECLINED, EXPIRED, PENDING, WITHDRAWN
from app.web.access import may

blueprint = Pages("invitation_list", __name__, url_prefix="/invitations", needs_sign_in=True, translated=True)
STATE_NAMES = {
    PENDING: lazy_gettext("open"),
    ACCEPTED: lazy_gettext("accepted"),
    DECLINED: lazy_gettext("declined"),
    WITHDRAWN: lazy_gettext("withdrawn"),
    EXPIRED: lazy_gettext("expired"),
}


@blueprint.get("")
def show() -> Response:
    """List the invitations: those to answer first, then the newest. Raises RoleNotAllowed."""
    caller = authorise_page(may(STALL_READ))
    return render_page(
        "pages/invitations.html",
        invitations=queries.list_newest_invites(caller),
        pending=PENDING,
        may_answer=may(STALL_MANAGE).allows(get_team_caller(may(STALL_MANAGE))),
        is_verified=caller.email_verified,
        state_names=STATE_NAMES,
        describe_terms=_describe_terms,
        build_slug=lambda invite: queries.build_slug(invite.id, queries.INVITE_KIND),
    )


def _describe_terms(invite: queries.MerchantInvite) -> str:
    fee = None
    if invite.fee_minor is not None:
        fee = (
            gettext("fee %(amount)s", amount=format_money(invite.fee_minor)) if invite.fee_minor else gettext("no fee")
        )
    place = f"{invite.venue}, {invite.city}"
    return " · ".join(filter(None, (format_time(invite.starts_at, invite.timezone), place, invite.stall_type, fee)))
