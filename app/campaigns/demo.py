"""Demo campaigns: one that is sent to the few guests of a sponsor, and a draft to all holders.

Seeding twice changes nothing: an event that has campaigns is skipped.
"""

from sqlalchemy import select, text

from app.accounts.caller import Caller
from app.allocations.models import CLAIMED_SLOT_CONDITION, AllocationSlot
from app.campaigns import actions
from app.campaigns.message_templates import TEMPLATES
from app.campaigns.models import Campaign
from app.campaigns.states import HOLDERS, SPECIFIC
from app.core.db import db

CampaignFields = dict[str, object]
BY_EMAIL: CampaignFields = {"channels": ["email"], "respect_preferences": True}
GATES_OPEN: CampaignFields = {
    **BY_EMAIL,
    "audience_type": SPECIFIC,
    "name": "Gates and parking",
    "template_id": "event-reminder",
    "title": "{eventName}: gates open at 17:00",
    "body": "Hello {firstName},\n\nthe gates of {eventName} open an hour before the first act. Park at the old "
    "brewery and walk along the river. You have {tickets}.\n\n{organiserName}",
    "href": "https://example.com/windhoek-lights/getting-there",
    "ab_test_enabled": True,
    "variant_b_title": "{firstName}, this is how you get to {eventName}",
    "send_now": True,
}
THANK_YOU: CampaignFields = {
    **BY_EMAIL,
    "audience_type": HOLDERS,
    "name": "Thank you",
    "template_id": "thank-you",
    "title": TEMPLATES["thank-you"].title,
    "body": TEMPLATES["thank-you"].body,
    "send_now": False,
}


def seed(caller: Caller, event_id: str) -> int:
    """Creates the campaigns of this event; returns how many. A worker sends the first."""
    if db.session.scalar(select(Campaign.id).where(Campaign.event_id == event_id).limit(1)):
        return 0
    claimed = select(AllocationSlot.id).where(AllocationSlot.event_id == event_id, text(CLAIMED_SLOT_CONDITION))
    guests = db.session.scalars(claimed.order_by(AllocationSlot.id)).all()
    campaigns = [{**GATES_OPEN, "user_ids": guests}, THANK_YOU] if guests else [THANK_YOU]
    for campaign in campaigns:
        actions.broadcast(caller=caller, event_id=event_id, **campaign)
    return len(campaigns)
