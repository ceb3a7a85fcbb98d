"""Remembering who has refused for good, so that nothing is sent there again."""

from sqlalchemy import text

from app.core.transaction import transaction

SUPPRESS = text("""
    INSERT INTO suppression (channel, address, reason) VALUES (:channel, :address, :reason) ON CONFLICT DO NOTHING
""")
FORGET = text("DELETE FROM push_device WHERE id = :id")
REASON_LENGTH = 300


def suppress(channel: str, address: str, reason: str) -> None:
    """Notes that this e-mail address or telephone number has refused, and what was said. Once is enough."""
    if channel == "push":
        return
    with transaction() as session:
        session.execute(SUPPRESS, {"channel": channel, "address": address, "reason": reason[:REASON_LENGTH]})


def forget_device(device_id: str) -> None:
    """Removes a device that its push service no longer knows."""
    with transaction() as session:
        session.execute(FORGET, {"id": device_id})
