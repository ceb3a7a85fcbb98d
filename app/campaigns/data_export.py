"""Messages of campaigns to a person, in the copy of their data."""

from sqlalchemy import and_, select

from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.campaigns.models import Campaign, Recipient
from app.campaigns.states import CHANNELS
from app.events.models import Event


@export_part("messages")
def export_messages(owner: ExportOwner) -> list[dict[str, object]]:
    """Messages to the verified address. The index of recipients begins with campaign and channel, so each is looked up."""
    query = (
        select(
            Event.name.label("event"),
            Campaign.title,
            Campaign.body,
            Recipient.channel,
            Recipient.address,
            Recipient.name,
            Recipient.state,
            Recipient.reason,
            Recipient.settled_at,
            Recipient.clicked_at,
        )
        .join(Campaign, Campaign.event_id == Event.id)
        .join(
            Recipient,
            and_(
                Recipient.campaign_id == Campaign.id,
                Recipient.event_id == Campaign.event_id,
                Recipient.channel.in_(CHANNELS),
            ),
        )
        .where(Recipient.person == owner.email)
    )
    return list_rows(query.order_by(Recipient.id))
