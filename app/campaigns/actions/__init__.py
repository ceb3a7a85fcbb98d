"""What organisers do with campaigns."""

from app.campaigns.actions.broadcast import broadcast, duplicate
from app.campaigns.actions.call_off import cancel_campaign
from app.campaigns.actions.change import change_campaign
from app.campaigns.actions.click import click
from app.campaigns.actions.picture import upload_image
from app.campaigns.actions.resend import resend_uncertain
from app.campaigns.actions.test import send_test

__all__ = [
    "broadcast",
    "cancel_campaign",
    "change_campaign",
    "click",
    "duplicate",
    "resend_uncertain",
    "send_test",
    "upload_image",
]
