"""Campaigns: `/api/events/{id}/notifications`."""

from typing import Any

from app.accounts.errors import MailLimitReached
from app.blueprints.campaigns import response_schemas, schemas
from app.campaigns import actions, audience_counts, campaign_store, errors, queries, recipient_search
from app.core.errors import Throttled
from app.media.actions import MAX_UPLOAD_BYTES
from app.media.errors import UPLOAD_ERRORS
from app.web.access import ORGANISER, ORGANISER_OR_ANALYST, VERIFIED_ORGANISER
from app.web.auth import get_current_caller
from app.web.blueprint import Blueprint
from app.web.images import Picture, PictureFile
from app.web.paging import Listing
from app.web.rate_limits import Limit

blp = Blueprint("campaigns", __name__, url_prefix="/api/events/<id>/notifications", description="Campaigns")
ONE = "/campaigns/<campaignId>"
COUNTING = Limit(60)


@blp.post(
    "/audience-preview",
    access=ORGANISER_OR_ANALYST,
    body=schemas.AudienceBody,
    returns=response_schemas.PreviewData,
    limit=COUNTING,
)
def preview_audience(id: str, **body: Any) -> Any:
    """Count who would be written to, and why others would not; nothing is kept or sent.

    `total` counts tickets (or ids): it is the `people` reached, each once, and everything in `excluded`.
    """
    return audience_counts.preview_audience(get_current_caller(), id, campaign_store.audience_of(body))


@blp.post(
    "/broadcast",
    access=VERIFIED_ORGANISER,
    body=schemas.NewCampaign,
    returns=response_schemas.BroadcastData,
    status=202,
    idempotent=True,
    errors=[MailLimitReached],
)
def broadcast(id: str, **body: Any) -> Any:
    """Send a campaign now, at a time, or keep it as a draft.

    A naive `scheduledAt` is on the event's clock. Texts may hold placeholders (see `templates`); what stands in
    doubled braces is text. Who is written to is decided when sending starts, each person once on a channel.
    """
    result = actions.broadcast(caller=get_current_caller(), event_id=id, **body)
    return result, {"ETag": f'"{result["version"]}"'}


@blp.get(
    "/campaigns",
    access=ORGANISER_OR_ANALYST,
    query=schemas.CampaignFilters,
    returns=Listing("campaigns", response_schemas.CampaignRow, queries.SORTS, "-createdAt"),
)
def list_campaigns(id: str, **filters: Any) -> Any:
    """List an event's campaigns with what became of their messages."""
    return queries.list_campaigns_query(get_current_caller(), id, **filters)


@blp.get(ONE, access=ORGANISER_OR_ANALYST, returns=response_schemas.CampaignData, etag=True, sparse=True)
def read_campaign(id: str, campaign_id: str) -> Any:
    """Read a campaign, with what was done with it and by whom."""
    return queries.get_campaign(get_current_caller(), id, campaign_id)


@blp.patch(
    ONE,
    access=VERIFIED_ORGANISER,
    body=schemas.CampaignChanges,
    returns=response_schemas.CampaignRow,
    etag=True,
    errors=[errors.CampaignFrozen, MailLimitReached],
)
def change_campaign(id: str, campaign_id: str, **body: Any) -> Any:
    """Change a draft or a scheduled campaign; `sendNow` sends it, `scheduledAt` gives it a time, null takes it away."""
    row = actions.change_campaign(caller=get_current_caller(), event_id=id, campaign_id=campaign_id, **body)
    return row, {"ETag": f'"{row["version"]}"'}


@blp.post(
    f"{ONE}/cancel",
    access=ORGANISER,
    returns=response_schemas.CampaignRow,
    idempotent=True,
    errors=[errors.CampaignStarted],
)
def cancel_campaign(id: str, campaign_id: str) -> Any:
    """Call off a campaign that has not begun."""
    return actions.cancel_campaign(caller=get_current_caller(), event_id=id, campaign_id=campaign_id)


@blp.post(
    f"{ONE}/duplicate",
    access=VERIFIED_ORGANISER,
    body=schemas.CampaignChanges,
    returns=response_schemas.CampaignRow,
    status=201,
    idempotent=True,
    errors=[MailLimitReached],
)
def duplicate_campaign(id: str, campaign_id: str, **body: Any) -> Any:
    """Copy a campaign as a draft; the fields that are sent take the place of its own."""
    row = actions.duplicate(caller=get_current_caller(), event_id=id, campaign_id=campaign_id, **body)
    return row, {"ETag": f'"{row["version"]}"'}


@blp.get(
    f"{ONE}/uncertain",
    access=ORGANISER_OR_ANALYST,
    returns=Listing("recipients", response_schemas.RecipientRow, queries.RECIPIENT_SORTS, "id"),
)
def list_uncertain(id: str, campaign_id: str) -> Any:
    """List recipients whose message may or may not have arrived: the line broke after it was handed over."""
    return queries.list_uncertain_query(get_current_caller(), id, campaign_id)


@blp.post(
    f"{ONE}/resend-uncertain",
    access=VERIFIED_ORGANISER,
    body=schemas.ResendBody,
    returns=response_schemas.Resent,
    status=202,
    idempotent=True,
    errors=[errors.NothingUncertain],
)
def resend_uncertain(id: str, campaign_id: str, **body: Any) -> Any:
    """Send uncertain messages again, on purpose: some people may get one twice. It is noted who asked."""
    return actions.resend_uncertain(caller=get_current_caller(), event_id=id, campaign_id=campaign_id, **body)


@blp.post(
    "/test",
    access=VERIFIED_ORGANISER,
    body=schemas.TestBody,
    returns=response_schemas.TestData,
    status=202,
    idempotent=True,
    errors=[errors.NoReachableChannel, Throttled],
)
def send_test(id: str, **body: Any) -> Any:
    """Send the texts to yourself, as others would get them, each variant once."""
    return actions.send_test(caller=get_current_caller(), event_id=id, **body)


@blp.get("/templates", access=ORGANISER_OR_ANALYST, returns=response_schemas.TemplatesData)
def list_templates(id: str) -> Any:
    """List the texts to begin with, and the placeholders that texts may hold."""
    return queries.list_templates(get_current_caller(), id)


@blp.post(
    "/upload-image",
    access=ORGANISER,
    files=PictureFile,
    returns=Picture,
    status=201,
    max_bytes=MAX_UPLOAD_BYTES,
    errors=UPLOAD_ERRORS,
)
def upload_image(id: str, file: Any) -> Any:
    """Upload a picture for a campaign, and get the address to put into `imageUrl` or `bannerUrl`."""
    return actions.upload_image(caller=get_current_caller(), event_id=id, data=file.read())


@blp.get(
    "/users/search",
    access=ORGANISER_OR_ANALYST,
    query=schemas.PeopleQuery,
    returns=response_schemas.UsersData,
    limit=COUNTING,
)
def search_users(id: str, q: str) -> Any:
    """Find people among those who hold tickets for the event or take part in it; addresses are masked."""
    return recipient_search.search_recipients(get_current_caller(), id, q=q)
