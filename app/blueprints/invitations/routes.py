"""Invitations for organisers (`/api/events/{id}/…`) and for merchants (`/api/merchants/me/…`)."""

from typing import Unpack

from app.accounts.errors import MAIL_ERRORS
from app.accounts.permissions import STALL_MANAGE, STALL_READ, STALL_RUN, STALLS_INVITE, STALLS_READ
from app.applications.directory import list_directory_query
from app.applications.errors import HasStall, StallTypeFull
from app.blueprints.invitations import schemas
from app.core.errors import NotFound
from app.invitations import actions, directory, errors, queries, stalls
from app.invitations.actions.invites import DirectoryInvites, OrganiserLink, RequestedTerms
from app.invitations.participation import FloorStatusChange
from app.merchants.errors import MerchantPaused
from app.web.access import PUBLIC, get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit, limit_failed_lookups

blp = Blueprint("invitations", __name__, url_prefix="/api", description="Inviting merchants, and taking part")

INVITE_LIMIT = Limit(60)
LINK_ERRORS = [errors.InviteExpired, errors.InviteWithdrawn, errors.InviteUsed, errors.InviteDeclined]


@blp.get(
    "/events/<id>/merchant-directory",
    access=may(STALLS_READ),
    query=schemas.DirectoryQuery,
    returns=Listing("merchants", schemas.DirectoryRow, directory.DIRECTORY_SORTS, "businessName"),
)
def merchant_directory(
    id: str, q: str | None = None, category: str | None = None, city: str | None = None
) -> queries.ListQuery:
    """List merchants who can be invited to an event.

    Active merchants with a verified email; public data only. `inviteStatus`, `applicationStatus` and `takesPart` are
    about this event.
    """
    return list_directory_query(get_current_caller(), id, q=q, category=category, city=city)


@blp.post(
    "/events/<id>/directory-invites",
    access=may(STALLS_INVITE).with_verified_email(),
    body=schemas.DirectoryInvitesBody,
    returns=schemas.InvitedData,
    status=201,
    idempotent=True,
    limit=INVITE_LIMIT,
    errors=[errors.EventClosed, *MAIL_ERRORS],
)
def directory_invites(
    id: str, merchant_ids: list[str], withdraw: bool = False, **terms: Unpack[RequestedTerms]
) -> DirectoryInvites:
    """Invite merchants from the directory.

    Each gets an email. Merchants who are invited already are reported and not invited twice. Merchants who accept
    automatically take part immediately while places are left, unless there is a fee. `withdraw` withdraws invitations without an answer.
    """
    if withdraw:
        return actions.withdraw_invites(caller=get_current_caller(), event_id=id, merchant_ids=merchant_ids)
    return actions.invite_from_directory(caller=get_current_caller(), event_id=id, merchant_ids=merchant_ids, **terms)


@blp.post(
    "/events/<id>/merchant-invite",
    access=may(STALLS_INVITE).with_verified_email(),
    body=schemas.MerchantInviteBody,
    returns=schemas.LinkData,
    status=201,
    idempotent=True,
    limit=INVITE_LIMIT,
    errors=[errors.EventClosed, *MAIL_ERRORS],
)
def merchant_invite(
    id: str,
    email: str | None = None,
    business_name: str | None = None,
    max_uses: int | None = None,
    slug: str | None = None,
    revoke: bool = False,
    **terms: Unpack[RequestedTerms],
) -> OrganiserLink:
    """Make a link by which a business can apply for a stall; it is mailed if there is an email.

    It works for drafts too, until it expires, its uses run out or its event ends. An event invites an email once: a
    second call returns the valid invitation with `alreadyInvited`. `slug` with `revoke` ends a link.
    """
    if revoke:
        return actions.withdraw_link(caller=get_current_caller(), event_id=id, slug=slug or "")
    return actions.create_link(
        caller=get_current_caller(), event_id=id, email=email, business_name=business_name, max_uses=max_uses, **terms
    )


@blp.get(
    "/events/<eventId>/stalls",
    access=may(STALLS_READ),
    query=schemas.StallsQuery,
    returns=Listing("stalls", schemas.StallRow, stalls.STALL_SORTS, "businessName"),
)
def list_stalls(event_id: str, q: str | None = None, floor_status: str | None = None) -> queries.ListQuery:
    """List the stalls of an event: who takes part, who is open now, and the stall plan."""
    return stalls.list_stalls_query(get_current_caller(), event_id, q=q, floor_status=floor_status)


@blp.patch(
    "/events/<eventId>/stalls/<merchantId>",
    access=may(STALLS_INVITE),
    body=schemas.StallPlaceBody,
    returns=schemas.StallRow,
    etag=True,
)
def place_stall(
    event_id: str, merchant_id: str, expected_version: int | None, **place: Unpack[stalls.StallPlace]
) -> stalls.StallRecord:
    """Change the number, power, water or note of a stall in the stall plan. One stall of the event has a number."""
    caller = get_current_caller()
    stalls.place_stall(caller, event_id, merchant_id, expected_version=expected_version, **place)
    return stalls.get_stall(caller, event_id, merchant_id)


@blp.get(
    "/events/merchant-invite/<slug>",
    access=PUBLIC,
    returns=schemas.PublicLinkData,
    limit=Limit(120),
    errors=LINK_ERRORS,
)
@limit_failed_lookups
def read_merchant_invite(slug: str) -> queries.InviteLinkDetails:
    """Read the event, terms and state of a link.

    A link that has ended gets 410 with its `state`.
    """
    return queries.get_active_invite_link(slug)


@blp.get(
    "/merchants/me/event-invites",
    access=may(STALL_READ),
    query=schemas.InvitesQuery,
    returns=Listing("invites", schemas.InviteRow, queries.INVITE_SORTS, "-createdAt"),
)
def my_invites(status: str | None = None, event_id: str | None = None) -> queries.ListQuery:
    """List one's own invitations."""
    return queries.list_own_invites_query(get_current_caller(), status=status, event_id=event_id)


@blp.get("/merchants/me/event-invites/<inviteId>", access=may(STALL_READ), returns=schemas.InviteRow, etag=True)
def my_invite(invite_id: str) -> queries.MerchantInvite:
    """Read one of one's own invitations."""
    return queries.get_own_invite(get_current_caller(), invite_id)


@blp.patch(
    "/merchants/me/event-invites/<inviteId>",
    access=may(STALL_MANAGE).with_verified_email(),
    body=schemas.AnswerBody,
    returns=schemas.InviteRow,
    etag=True,
    errors=[
        errors.InviteDecided,
        MerchantPaused,
        errors.InviteExpired,
        errors.InviteWithdrawn,
        HasStall,
        StallTypeFull,
    ],
)
def answer_invite(
    invite_id: str, status: str, expected_version: int | None, message: str | None = None
) -> tuple[queries.MerchantInvite, dict[str, str]]:
    """Accept or decline an invitation; the organiser gets an email.

    Accepting takes a place of the stall type and makes the merchant a participant. With a fee the merchant gets a mail
    with the payment link, and takes part when the fee is paid, received or waived. The same answer again gets the same
    200.
    """
    invite = actions.answer_invite(
        caller=get_current_caller(),
        invite_id=invite_id,
        expected_version=expected_version,
        status=status,
        message=message,
    )
    return invite, {"ETag": f'"{invite.version}"'}


@blp.get(
    "/merchants/me/events",
    access=may(STALL_READ),
    returns=Listing("events", schemas.TakenPartRow, queries.EVENT_SORTS, "startsAt"),
)
def my_events() -> queries.ListQuery:
    """List the events one takes part in."""
    return queries.list_own_events_query(get_current_caller())


@blp.patch(
    "/merchants/me/pos-floor-status",
    access=may(STALL_RUN),
    body=schemas.FloorStatusBody,
    returns=schemas.FloorStatusData,
    errors=[MerchantPaused, NotFound],
)
def change_floor_status(status: str, event_id: str | None = None) -> FloorStatusChange:
    """Set one's stall to open, busy, paused or closed.

    At one event, or at all that are not over. The next stall starts with this status too.
    """
    return actions.set_floor_status(caller=get_current_caller(), status=status, event_id=event_id)
