"""SQL text of subscriptions: preferences, the page of an unsubscribe link, and conditions for other domains.

The conditions say who may not get messages. Each takes SQL expressions (a column, a `:parameter`). With organiser and
channel as parameters, PostgreSQL uses a hash for a whole audience and an index for one person. Use the conditions in a
select list or in WHERE, not in the FILTER of an aggregate, where the planner estimates a single evaluation.
"""

from sqlalchemy import text

from app.merchants.sql import has_switched_channel_off_sql

MAX_UNSUBSCRIBES_LISTED = 500

PREFERENCES_SQL = f"""
    SELECT (SELECT coalesce(jsonb_object_agg(channel, jsonb_build_array(wanted, version)), '{{}}')
              FROM channel_preference WHERE account_id = %(id)s),
           (SELECT coalesce(jsonb_agg(
                       jsonb_build_array(u.id, u.organiser_id, coalesce(p.org_name, a.name), u.created_at)
                       ORDER BY u.created_at DESC, u.id), '[]')
              FROM (SELECT id, organiser_id, created_at FROM unsubscribe
                     WHERE address = %(address)s ORDER BY organiser_id IS NULL DESC, created_at DESC LIMIT {MAX_UNSUBSCRIBES_LISTED}) u
              LEFT JOIN account a ON a.id = u.organiser_id
              LEFT JOIN organiser_profile p ON p.account_id = u.organiser_id)
"""

UNSUBSCRIBE_STATUS_SQL = """
    SELECT coalesce(p.org_name, a.name), coalesce(p.contact_email, a.email),
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id = %(organiser_id)s),
           EXISTS (SELECT FROM unsubscribe WHERE address = %(address)s AND organiser_id IS NULL)
      FROM (VALUES (CAST(%(organiser_id)s AS text))) link (organiser_id)
      LEFT JOIN account a ON a.id = link.organiser_id LEFT JOIN organiser_profile p ON p.account_id = a.id
     WHERE link.organiser_id IS NULL OR a.id IS NOT NULL
"""

UPDATE_PREFERENCES_SQL = text("""
    WITH changed_preferences AS (
        INSERT INTO channel_preference AS saved (account_id, channel, wanted)
        SELECT :account_id, flag.* FROM unnest(CAST(:channels AS text[]), CAST(:flags AS boolean[])) AS flag
            ON CONFLICT (account_id, channel) DO UPDATE
           SET wanted = excluded.wanted, version = saved.version + 1, updated_at = now()
         WHERE saved.wanted <> excluded.wanted
    ), resubscribed AS (
        DELETE FROM unsubscribe WHERE address = :address
           AND (organiser_id = ANY(:resubscribe) OR (organiser_id IS NULL AND :from_all IS FALSE))
    )
    INSERT INTO unsubscribe (id, address) SELECT :id, :address WHERE :from_all ON CONFLICT DO NOTHING
""")


def is_unsubscribed_sql(address: str, organiser: str) -> str:
    """SQL: whether this lower-case e-mail address has unsubscribed from the organiser or from all."""
    return f"""EXISTS (SELECT FROM unsubscribe WHERE unsubscribe.address = {address}
        AND (unsubscribe.organiser_id = {organiser} OR unsubscribe.organiser_id IS NULL))"""


def has_disabled_channel_sql(address: str, channel: str) -> str:
    """SQL: whether the account with this verified, lower-case e-mail address has switched the channel off.

    It did so in its preferences or, as a merchant, in its settings.
    """
    return f"""(EXISTS (SELECT FROM account JOIN channel_preference ON channel_preference.account_id = account.id
        AND channel_preference.channel = {channel} AND NOT channel_preference.wanted
        WHERE account.email = {address} AND account.email_verified_at IS NOT NULL)
        OR {has_switched_channel_off_sql(address, channel)})"""


def is_suppressed_sql(channel: str, address: str) -> str:
    """SQL: whether this address (lower-case e-mail, phone number in E.164) has a permanent error on the channel."""
    return f"""EXISTS (SELECT FROM suppression WHERE suppression.channel = {channel}
        AND suppression.address = {address})"""


def has_device_sql(account: str) -> str:
    """SQL: whether this account has a push device. False for null."""
    return f"EXISTS (SELECT FROM push_device WHERE push_device.account_id = {account})"
