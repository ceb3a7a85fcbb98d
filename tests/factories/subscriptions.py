"""Push devices, preferences and unsubscribe links for tests."""

from typing import Any

from sqlalchemy import text

from app.core.db import db
from app.subscriptions.message_links import build_unsubscribe_links
from tests.http import Client, data

PREFERENCES, DEVICES = "/api/notifications/preferences", "/api/notifications/devices"


def register_device(client: Client, token: str, platform: str = "ios") -> dict[str, Any]:
    return data(client.post(DEVICES, {"token": token, "platform": platform}), 201)


def list_devices() -> list[tuple[str, str]]:
    """Account id and token of every push device."""
    return [
        (row[0], row[1]) for row in db.session.execute(text("SELECT account_id, token FROM push_device ORDER BY 2"))
    ]


def build_unsubscribe_path(address: str, organiser_id: str | None) -> str:
    """The path of the unsubscribe page of an address."""
    return "/unsubscribe/" + build_unsubscribe_links(address, organiser_id).url.rpartition("/")[2]


def list_unsubscriptions() -> list[tuple[str, str | None]]:
    """Address and organiser of every unsubscription."""
    return [(row[0], row[1]) for row in db.session.execute(text("SELECT address, organiser_id FROM unsubscribe"))]
