"""Devices, wishes and links for tests."""

from typing import Any

from sqlalchemy import text

from app.core.db import db
from app.subscriptions.unsubscribe_links import build_unsubscribe_links
from tests.http import Client, data

PREFERENCES, DEVICES = "/api/notifications/preferences", "/api/notifications/devices"


def device(client: Client, token: str, platform: str = "ios") -> dict[str, Any]:
    return data(client.post(DEVICES, {"token": token, "platform": platform}), 201)


def devices() -> list[tuple[str, str]]:
    """Whose each device is, and its token."""
    return [
        (row[0], row[1]) for row in db.session.execute(text("SELECT account_id, token FROM push_device ORDER BY 2"))
    ]


def page_of(address: str, organiser_id: str | None) -> str:
    """The path of the page on which this address says no."""
    return "/unsubscribe/" + build_unsubscribe_links(address, organiser_id).url.rpartition("/")[2]


def ended() -> list[tuple[str, str | None]]:
    """Who wants no messages, of whom."""
    return [(row[0], row[1]) for row in db.session.execute(text("SELECT address, organiser_id FROM unsubscribe"))]
