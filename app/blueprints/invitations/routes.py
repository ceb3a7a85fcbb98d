"""Invitations, from both sides: `/api/events/{id}/…` and `/api/merchants/me/…`."""

from typing import Any

from app.accounts.errors import MAIL_ERRORS
from app.blueprints.invitations import schemas
from app.core.errors import NotFound
from app.invitations import actions, directory, errors, queries
from app.merchants.errors import MerchantPaused
from app.web.access import MERCHANT, ORGANISER_OR_ANALYST, PUBLIC, VERIFIED_MERCHANT, VERIFIED_ORGANISER
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit, limit_failed_lookups

blp = Blueprint("invitations", __name__, url_prefix="/api", description="Inviting merchants, and taking part")

INVITE_LIMIT = Limit(60)
LINK_ERRORS = [errors.InviteExpired, errors.InviteWithdrawn, errors.InviteUsed]


@blp.get(
    "/events/<id>/merchant-directory",
    access=ORGANISER_OR_ANALYST,
    query=schemas.DirectoryQuery,
    returns=Listing("merchants", schemas.DirectoryRow, directory.DIRECTORY_SORTS, "businessName"),
)
def merchant_directory(id: str, **filters: Any) -> Any:
    """List merchants who can be invited to an event.

    Active merchants whose address is verified; nothing private. `inviteStatus` and `takesPart` are about this event.
    """
    return directory.list_directory_query(get_current_caller(), id, **filters)


@blp.post(
    "/events/<id>/directory-invites",
    access=VERIFIED_ORGANISER,
    body=schemas.DirectoryInvitesBody,
    returns=schemas.InvitedData,
    status=201,
    idempotent=True,
    limit=INVITE_LIMIT,
    errors=[errors.EventClosed, *MAIL_ERRORS],
)
def directory_invites(id: str, withdraw: bool = False, **body: Any) -> Any:
    """Invite merchants from the directory.

    Each gets a mail. Those who are invited already are reported and not invited twice; those who accept automatically
    take part at once, unless there is a fee. `withdraw` takes back what has not been answered.
    """
    if withdraw:
        return actions.withdraw_invites(caller=get_current_caller(), event_id=id, merchant_ids=body["merchant_ids"])
    return actions.invite_from_directory(caller=get_current_caller(), event_id=id, **body)


@blp.post(
    "/events/<id>/merchant-invite",
    access=VERIFIED_ORGANISER,
    body=schemas.MerchantInviteBody,
    returns=schemas.LinkData,
    status=201,
    idempotent=True,
    limit=INVITE_LIMIT,
    errors=[errors.EventClosed, *MAIL_ERRORS],
)
def merchant_invite(id: str, slug: str | None = None, revoke: bool = False, **body: Any) -> Any:
    """Make a link by which a business can apply for a stall; it is mailed when there is an address.

    It works for drafts too, until its time, its uses or its event end. An event invites an address once: a second call
    answers the running invitation with `alreadyInvited`. `slug` with `revoke` ends one.
    """
    if revoke:
        return actions.withdraw_link(caller=get_current_caller(), event_id=id, slug=slug or "")
    return actions.create_link(caller=get_current_caller(), event_id=id, **body)


@blp.get(
    "/events/merchant-invite/<slug>",
    access=PUBLIC,
    returns=schemas.PublicLinkData,
    limit=Limit(120),
    errors=LINK_ERRORS,
)
@limit_failed_lookups
def read_merchant_invite(slug: str) -> Any:
    """Read what a link offers: event, terms and state.

    A link that has ended answers 410, and says in `state` how.
    """
    return queries.get_active_invite_link(slug)


@blp.get(
    "/merchants/me/event-invites",
    access=MERCHANT,
    query=schemas.InvitesQuery,
    returns=Listing("invites", schemas.InviteRow, queries.INVITE_SORTS, "-createdAt"),
)
def my_invites(**filters: Any) -> Any:
    """List one's own invitations."""
    return queries.list_own_invites_query(get_current_caller(), **filters)


@blp.get("/merchants/me/event-invites/<inviteId>", access=MERCHANT, returns=schemas.InviteRow, etag=True)
def my_invite(invite_id: str) -> Any:
    """Read one of one's own invitations."""
    return queries.get_own_invite(get_current_caller(), invite_id)


@blp.patch(
    "/merchants/me/event-invites/<inviteId>",
    access=VERIFIED_MERCHANT,
    body=schemas.AnswerBody,
    returns=schemas.InviteRow,
    etag=True,
    errors=[errors.InviteDecided, MerchantPaused, errors.InviteExpired, errors.InviteWithdrawn],
)
def answer_invite(invite_id: str, **body: Any) -> Any:
    """Accept or decline an invitation; the organiser is told.

    Accepting makes the merchant a participant. The same answer again gets the same 200.
    """
    invite = actions.answer_invite(caller=get_current_caller(), invite_id=invite_id, **body)
    return invite, {"ETag": f'"{invite.version}"'}


@blp.get(
    "/merchants/me/events",
    access=MERCHANT,
    returns=Listing("events", schemas.TakenPartRow, queries.EVENT_SORTS, "startsAt"),
)
def my_events() -> Any:
    """List the events one takes part in."""
    return queries.list_own_events_query(get_current_caller())


@blp.patch(
    "/merchants/me/pos-floor-status",
    access=MERCHANT,
    body=schemas.FloorStatusBody,
    returns=schemas.FloorStatusData,
    errors=[MerchantPaused, NotFound],
)
def change_floor_status(**body: Any) -> Any:
    """Say whether one's stall is open, busy, paused or closed.

    At one event, or at all that are not over. With none it is kept for the next one.
    """
    return actions.set_floor_status(caller=get_current_caller(), **body)
