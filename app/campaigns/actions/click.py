"""Following a link of a message."""

from sqlalchemy import text

from app.campaigns.letters import address_of
from app.campaigns.tallying import CLICK
from app.core.db import fetch_row
from app.core.errors import NotFound
from app.core.transaction import write_row
from app.subscriptions import click_tracking

_WHERE = """
    SELECT c.href FROM campaign_recipient r JOIN campaign c ON c.id = r.campaign_id WHERE r.id = :id
"""
LED, COUNTED = text(_WHERE), text(CLICK + _WHERE)


def click(token: str, *, counts: bool) -> str:
    """Where the link leads: what the campaign has said, and nowhere else. A person counts once. Raises NotFound."""
    found = click_tracking.decode_click_token(token)
    if found is None:
        raise NotFound()
    row = (write_row if counts else fetch_row)(COUNTED if counts else LED, {"id": found.recipient_id})
    if row is None or row[0] is None:
        raise NotFound()
    return address_of(row[0])
