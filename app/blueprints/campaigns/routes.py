"""Campaigns: `/api/events/{id}/notifications`."""

from typing import Any

from werkzeug.datastructures import FileStorage

from app.accounts.errors import MailLimitReached
from app.accounts.permissions import MESSAGES_READ, MESSAGES_WRITE
from app.blueprints.campaigns import response_schemas, schemas
from app.campaigns import actions, audience_counts, campaign_store, errors, queries, suppressions
from app.campaigns.previews import VariantPreview, preview_variants
from app.core.errors import Throttled
from app.desk import failed_mails
from app.media.actions import MAX_UPLOAD_BYTES, UPLOAD_ERRORS, StoredPicture
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit
from app.web.schema import to_camel_case
from app.web.suppression_fields import RemovableEntry, StoppedAddress, SuppressionFilters
from app.web.text_fields import Picture, PictureFile

blp = Blueprint("campaigns", __name__, url_prefix="/api/events/<id>/notifications", description="Campaigns")
Versioned = tuple[actions.Campaign, dict[str, str]]
"""A campaign and the header with its ETag."""
CAMPAIGN_PATH, SUPPRESSIONS_PATH = "/campaigns/<campaignId>", "/suppressions"
COUNT_LIMIT = Limit(60)
ORGANISATION = may(MESSAGES_WRITE, whole_organisation=True)
SORTS = {to_camel_case(name): column for name, column in queries.SORTS.items()}


@blp.post(
    "/audience-preview",
    access=may(MESSAGES_READ),
    body=schemas.AudienceBody,
    returns=response_schemas.PreviewData,
    limit=COUNT_LIMIT,
)
def preview_audience(id: str, **body: object) -> audience_counts.AudiencePreviewWithSample:
    """Count the people who would get a campaign, and those who would not by the reason. Nothing is stored or sent.

    `total` counts tickets (or ids): it is the `people` reached, each once, and everything in `excluded`.
    """
    return audience_counts.preview_audience(get_current_caller(), id, campaign_store.build_audience(body))


@blp.post(
    "/broadcast",
    access=may(MESSAGES_WRITE).with_verified_email(),
    body=schemas.NewCampaign,
    returns=response_schemas.BroadcastData,
    status=202,
    idempotent=True,
    errors=[MailLimitReached],
)
def broadcast(id: str, **body: object) -> Versioned:
    """Send a campaign now, schedule it, or store it as a draft.

    A naive `scheduledAt` is in the event's time zone. Texts may have placeholders (see `templates`); text in doubled
    braces stays. The audience is chosen when sending starts; each person gets one message per channel.
    """
    with schemas.problems_with_api_names():
        campaign = actions.broadcast(caller=get_current_caller(), event_id=id, **body)
    return campaign, {"ETag": f'"{campaign["version"]}"'}


@blp.get(
    "/campaigns",
    access=may(MESSAGES_READ),
    query=schemas.CampaignFilters,
    returns=Listing("campaigns", response_schemas.CampaignRow, SORTS, "-createdAt"),
)
def list_campaigns(id: str, **filters: Any) -> queries.ListQuery:
    """List an event's campaigns with the figures of their messages."""
    return queries.list_campaigns_query(get_current_caller(), id, **filters)


@blp.get(CAMPAIGN_PATH, access=may(MESSAGES_READ), returns=response_schemas.CampaignData, etag=True, sparse=True)
def read_campaign(id: str, campaign_id: str) -> queries.CampaignRow:
    """Read a campaign and its history: who did what."""
    return queries.get_campaign_with_results(get_current_caller(), id, campaign_id)


@blp.patch(
    CAMPAIGN_PATH,
    access=may(MESSAGES_WRITE).with_verified_email(),
    body=schemas.CampaignChanges,
    returns=response_schemas.CampaignRow,
    etag=True,
    errors=[errors.CampaignFrozen, MailLimitReached],
)
def change_campaign(id: str, campaign_id: str, **body: Any) -> Versioned:
    """Change a draft or a scheduled campaign; `sendNow` sends it, `scheduledAt` schedules it, null makes it a draft."""
    with schemas.problems_with_api_names():
        campaign = actions.change_campaign(caller=get_current_caller(), event_id=id, campaign_id=campaign_id, **body)
    return campaign, {"ETag": f'"{campaign["version"]}"'}


@blp.post(
    f"{CAMPAIGN_PATH}/cancel",
    access=may(MESSAGES_WRITE),
    returns=response_schemas.CampaignRow,
    idempotent=True,
    errors=[errors.CampaignStarted],
)
def cancel_campaign(id: str, campaign_id: str) -> actions.Campaign:
    """Cancel a campaign that is not being sent yet."""
    return actions.cancel_campaign(caller=get_current_caller(), event_id=id, campaign_id=campaign_id)


@blp.post(
    f"{CAMPAIGN_PATH}/duplicate",
    access=may(MESSAGES_WRITE).with_verified_email(),
    body=schemas.CampaignChanges,
    returns=response_schemas.CampaignRow,
    status=201,
    idempotent=True,
    errors=[MailLimitReached],
)
def duplicate_campaign(id: str, campaign_id: str, **body: Any) -> Versioned:
    """Copy a campaign as a draft; the fields in the body replace its own."""
    with schemas.problems_with_api_names():
        campaign = actions.duplicate(caller=get_current_caller(), event_id=id, campaign_id=campaign_id, **body)
    return campaign, {"ETag": f'"{campaign["version"]}"'}


@blp.get(
    f"{CAMPAIGN_PATH}/recipients",
    access=may(MESSAGES_READ),
    query=schemas.RecipientFilters,
    returns=Listing("recipients", response_schemas.RecipientRow, queries.PERSON_SORTS, "address"),
)
def list_recipients(id: str, campaign_id: str, **filters: Any) -> queries.ListQuery:
    """List who gets or got a campaign, once on each channel, and what became of it. A draft has no recipients yet."""
    return queries.list_recipients_query(get_current_caller(), id, campaign_id, **filters)


@blp.get(
    f"{CAMPAIGN_PATH}/uncertain",
    access=may(MESSAGES_READ),
    returns=Listing("recipients", response_schemas.RecipientRow, queries.RECIPIENT_SORTS, "id"),
)
def list_uncertain(id: str, campaign_id: str) -> queries.ListQuery:
    """List recipients whose message may or may not have arrived: the connection broke after it was handed over."""
    return queries.list_uncertain_query(get_current_caller(), id, campaign_id)


@blp.post(
    f"{CAMPAIGN_PATH}/resend-uncertain",
    access=may(MESSAGES_WRITE).with_verified_email(),
    body=schemas.ResendBody,
    returns=response_schemas.Resent,
    status=202,
    idempotent=True,
    errors=[errors.NothingUncertain],
)
def resend_uncertain(id: str, campaign_id: str, **body: Any) -> actions.ResentMessages:
    """Send uncertain messages again. Some people may get one twice; the history has who asked for it."""
    return actions.resend_uncertain(caller=get_current_caller(), event_id=id, campaign_id=campaign_id, **body)


@blp.get(
    "/undelivered",
    access=may(MESSAGES_READ),
    query=schemas.UndeliveredFilters,
    returns=Listing("recipients", response_schemas.UndeliveredRow, queries.RECIPIENT_SORTS, "-id"),
)
def list_undelivered(id: str, **filters: Any) -> queries.ListQuery:
    """List the messages of an event that failed, with the reason, or whose arrival is uncertain."""
    return queries.list_undelivered_query(get_current_caller(), id, **filters)


@blp.get(
    "/failed-mails",
    access=may(MESSAGES_READ),
    returns=Listing("mails", response_schemas.FailedMailRow, failed_mails.SORTS, "-failedAt"),
)
def list_failed_mails(id: str) -> queries.ListQuery:
    """List the mails to applicants, guests, holders of blocks and invited people that failed, with the reason."""
    return failed_mails.list_failed_mails_query(get_current_caller(), id)


@blp.post(
    "/failed-mails/clear",
    access=may(MESSAGES_WRITE),
    body=schemas.ClearBody,
    returns=response_schemas.ClearedMails,
)
def clear_failed_mails(id: str, ids: list[str]) -> dict[str, int]:
    """Take failed mails off the list. Others of these ids are left out."""
    return {"cleared": failed_mails.clear_failed_mails(get_current_caller(), id, ids)}


@blp.get(f"{CAMPAIGN_PATH}/preview", access=may(MESSAGES_READ), returns=response_schemas.CampaignPreviewData)
def preview_campaign(id: str, campaign_id: str) -> dict[str, list[VariantPreview]]:
    """Read each variant as an e-mail, a text message and a push message, as you would get it. Nothing is sent."""
    caller = get_current_caller()
    return {"variants": preview_variants(caller, queries.get_campaign(caller, id, campaign_id))}


@blp.post(
    "/test",
    access=may(MESSAGES_WRITE).with_verified_email(),
    body=schemas.TestBody,
    returns=response_schemas.TestData,
    status=202,
    idempotent=True,
    errors=[errors.NoReachableChannel, Throttled],
)
def send_test(id: str, **body: Any) -> actions.SentTest:
    """Send the texts to yourself as recipients would get them, each variant once."""
    with schemas.problems_with_api_names():
        return actions.send_test(caller=get_current_caller(), event_id=id, **body)


@blp.get("/templates", access=may(MESSAGES_READ), returns=response_schemas.TemplatesData)
def list_templates(id: str) -> queries.TextChoices:
    """List the templates of texts, and the placeholders that texts may have."""
    return queries.list_templates(get_current_caller(), id)


@blp.post(
    "/upload-image",
    access=may(MESSAGES_WRITE),
    files=PictureFile,
    returns=Picture,
    status=201,
    max_bytes=MAX_UPLOAD_BYTES,
    errors=UPLOAD_ERRORS,
)
def upload_image(id: str, file: FileStorage) -> StoredPicture:
    """Upload a picture for a campaign, and get its URL for `imageUrl` or `bannerUrl`."""
    return actions.upload_image(caller=get_current_caller(), event_id=id, data=file.read())


@blp.get(
    "/users/search",
    access=may(MESSAGES_READ),
    query=schemas.PeopleQuery,
    returns=response_schemas.UsersData,
    limit=COUNT_LIMIT,
)
def search_users(id: str, q: str) -> dict[str, list[queries.Person]]:
    """Find people who hold tickets for the event or take part in it; addresses are masked."""
    return {"users": queries.search_recipients(get_current_caller(), id, q=q)}


@blp.get(
    SUPPRESSIONS_PATH,
    access=ORGANISATION,
    query=SuppressionFilters,
    returns=Listing("suppressions", response_schemas.SuppressionRow, suppressions.SORTS, "-since"),
)
def list_suppressions(id: str, **filters: Any) -> queries.ListQuery:
    """List the addresses that get no messages of the organisation of the event, why, and since when.

    It is one list for all events of the organisation. Addresses that refused messages of others only are not in it.
    """
    return suppressions.list_suppressions_query(get_current_caller(), id, **filters)


@blp.post(SUPPRESSIONS_PATH, access=ORGANISATION, body=StoppedAddress, returns=response_schemas.StoppedData)
def stop_address(id: str, address: str) -> dict[str, object]:
    """Send no more messages of the organisation to an address, on any channel and for any event.

    Tickets, codes and answers to requests still arrive. An address that is on the list already stays as it is.
    """
    return {"address": address, "added": suppressions.stop_address(get_current_caller(), id, address)}


@blp.post(f"{SUPPRESSIONS_PATH}/remove", access=ORGANISATION, body=RemovableEntry)
def allow_address(id: str, **entry: str) -> None:
    """Let an address get messages again that a member stopped, or that refused a message of the organisation.

    Without such an entry it is 404, and so for people who unsubscribed: only they can take that back.
    """
    suppressions.allow_address(get_current_caller(), id, **entry)
