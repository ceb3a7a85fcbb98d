"""Campaigns of the demo: one that has gone out, in two variants, and one that waits for its last words.

Seeding twice changes nothing: an event that has campaigns is left alone.
"""

from typing import Any

from sqlalchemy import select

from app.accounts.caller import Caller
from app.campaigns.actions import broadcast
from app.campaigns.models import Campaign
from app.campaigns.states import HOLDERS
from app.campaigns.templates import TEMPLATES
from app.core.db import db

WHOM: dict[str, Any] = {"audience_type": HOLDERS, "channels": ["email"], "respect_preferences": True}
GATES: dict[str, Any] = {
    **WHOM,
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
THANKS: dict[str, Any] = {
    **WHOM,
    "name": "Thank you",
    "template_id": "thank-you",
    "title": TEMPLATES["thank-you"].title,
    "body": TEMPLATES["thank-you"].body,
    "send_now": False,
}


def seed(caller: Caller, event_id: str) -> int:
    """How many campaigns had to be made for this event. A worker sends the one that goes out."""
    if db.session.scalar(select(Campaign.id).where(Campaign.event_id == event_id).limit(1)):
        return 0
    for each in (GATES, THANKS):
        broadcast(caller=caller, event_id=event_id, **each)
    return 2
