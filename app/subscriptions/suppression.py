"""Who may not be written to, as conditions for a statement that picks or checks people: written once, here.

Each takes SQL expressions (a column, a `:parameter`) and gives a condition. With the organiser and the channel as
parameters PostgreSQL answers it by hashing for a whole audience and by an index for one person. It must stand where
rows are made (a select list, a WHERE): in the FILTER of an aggregate the planner takes it for asked once.

Remembering who has refused for good, so that nothing is sent there again.
"""

from sqlalchemy import text

from app.core.transaction import transaction


def is_unsubscribed_sql(address: str, organiser: str) -> str:
    """SQL: whether the person with this lower-case e-mail address wants nothing more of this organiser, or of any."""
    return f"""EXISTS (SELECT FROM unsubscribe WHERE unsubscribe.address = {address}
        AND (unsubscribe.organiser_id = {organiser} OR unsubscribe.organiser_id IS NULL))"""


def has_disabled_channel_sql(address: str, channel: str) -> str:
    """SQL: whether the account that showed that this lower-case e-mail address is its own switched the channel off."""
    return f"""EXISTS (SELECT FROM account JOIN channel_preference ON channel_preference.account_id = account.id
        AND channel_preference.channel = {channel} AND NOT channel_preference.wanted
        WHERE account.email = {address} AND account.email_verified_at IS NOT NULL)"""


def is_suppressed_sql(channel: str, address: str) -> str:
    """SQL: whether this address (e-mail lower-case, telephone E.164) has refused the channel for good."""
    return f"""EXISTS (SELECT FROM suppression WHERE suppression.channel = {channel}
        AND suppression.address = {address})"""


def has_device_sql(account: str) -> str:
    """SQL: whether this account has a device that shows messages. False for null."""
    return f"EXISTS (SELECT FROM push_device WHERE push_device.account_id = {account})"


SUPPRESS_ADDRESS_SQL = text("""
    INSERT INTO suppression (channel, address, reason) VALUES (:channel, :address, :reason) ON CONFLICT DO NOTHING
""")
DELETE_DEVICE_SQL = text("DELETE FROM push_device WHERE id = :id")
MAX_REASON_LENGTH = 300


def suppress_address(channel: str, address: str, reason: str) -> None:
    """Notes that this e-mail address or telephone number has refused, and what was said. Once is enough."""
    if channel == "push":
        return
    with transaction() as session:
        session.execute(
            SUPPRESS_ADDRESS_SQL, {"channel": channel, "address": address, "reason": reason[:MAX_REASON_LENGTH]}
        )


def delete_device(device_id: str) -> None:
    """Removes a device that its push service no longer knows."""
    with transaction() as session:
        session.execute(DELETE_DEVICE_SQL, {"id": device_id})
