"""SQL conditions for who may not get messages, and the storing of addresses with permanent errors.

Each condition takes SQL expressions (a column, a `:parameter`). With organiser and channel as parameters, PostgreSQL uses
a hash for a whole audience and an index for one person. Use the conditions in a select list or in WHERE, not in the
FILTER of an aggregate, where the planner estimates a single evaluation.
"""

from sqlalchemy import text

from app.core.transaction import transaction

SUPPRESS_ADDRESS_SQL = text("""
    INSERT INTO suppression (channel, address, reason) VALUES (:channel, :address, :reason) ON CONFLICT DO NOTHING
""")
DELETE_DEVICE_SQL = text("DELETE FROM push_device WHERE id = :id")
MAX_REASON_LENGTH = 300


def is_unsubscribed_sql(address: str, organiser: str) -> str:
    """SQL: whether this lower-case e-mail address has unsubscribed from the organiser or from all."""
    return f"""EXISTS (SELECT FROM unsubscribe WHERE unsubscribe.address = {address}
        AND (unsubscribe.organiser_id = {organiser} OR unsubscribe.organiser_id IS NULL))"""


def has_disabled_channel_sql(address: str, channel: str) -> str:
    """SQL: whether the account with this verified, lower-case e-mail address has switched the channel off."""
    return f"""EXISTS (SELECT FROM account JOIN channel_preference ON channel_preference.account_id = account.id
        AND channel_preference.channel = {channel} AND NOT channel_preference.wanted
        WHERE account.email = {address} AND account.email_verified_at IS NOT NULL)"""


def is_suppressed_sql(channel: str, address: str) -> str:
    """SQL: whether this address (lower-case e-mail, phone number in E.164) has a permanent error on the channel."""
    return f"""EXISTS (SELECT FROM suppression WHERE suppression.channel = {channel}
        AND suppression.address = {address})"""


def has_device_sql(account: str) -> str:
    """SQL: whether this account has a push device. False for null."""
    return f"EXISTS (SELECT FROM push_device WHERE push_device.account_id = {account})"


def suppress_address(channel: str, address: str, reason: str) -> None:
    """Stores that this e-mail address or phone number has a permanent error, with the reason. May be repeated."""
    if channel == "push":
        return
    with transaction() as session:
        session.execute(
            SUPPRESS_ADDRESS_SQL, {"channel": channel, "address": address, "reason": reason[:MAX_REASON_LENGTH]}
        )


def delete_device(device_id: str) -> None:
    """Deletes a device that its push service no longer knows."""
    with transaction() as session:
        session.execute(DELETE_DEVICE_SQL, {"id": device_id})
