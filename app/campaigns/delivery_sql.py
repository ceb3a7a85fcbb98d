"""The SQL of deliveries: making recipients, sending to one of them, and counting what became of them.

A recipient's state and the figures of the campaign change in one statement. Each connection counts in its own stripe.
"""

from functools import lru_cache

from sqlalchemy import TextClause, text

from app.accounts.sql import OWNER_ID
from app.campaigns import audience_sql
from app.campaigns.states import SETTLED
from app.core.ids import NEW_ID_SQL
from app.core.outbox.retries import REVIVED
from app.core.outbox.writer import enqueue_sql

STRIPES = 16
MAX_RESENT = 500
CAMPAIGN = "CAST(:campaign_id AS text)"
_FIGURES = ", ".join(SETTLED)
_DIFFERENCES = ", ".join(
    f"count(*) FILTER (WHERE new_state = '{state}') - count(*) FILTER (WHERE old_state = '{state}')"
    for state in SETTLED
)
_SUMS = ", ".join(f"{state} = t.{state} + excluded.{state}" for state in SETTLED)
_TALLY_KEY = "ON CONSTRAINT pk_campaign_tally"


def tally_sql(rows: str, figure: str) -> str:
    """SQL that adds the rows of a CTE with `campaign_id`, `event_id` and `variant` to one figure."""
    return f"""
        INSERT INTO campaign_tally AS t (campaign_id, event_id, variant, stripe, {figure})
        SELECT campaign_id, event_id, variant, pg_backend_pid() % {STRIPES}, count(*) FROM {rows} GROUP BY 1, 2, 3
        ON CONFLICT {_TALLY_KEY} DO UPDATE SET {figure} = t.{figure} + excluded.{figure}"""


def recipient_update_sql(results: str) -> str:
    """SQL: the CTEs `moved` and `tallied`, which apply a CTE with `id, state, reason` to recipients."""
    return f"""
        locked AS (
            SELECT r.id, r.event_id, r.state FROM campaign_recipient r JOIN {results} USING (id) ORDER BY r.id FOR UPDATE OF r),
        moved AS (
            UPDATE campaign_recipient r SET state = e.state, reason = e.reason,
                   settled_at = CASE WHEN e.state = 'pending' THEN NULL ELSE now() END
              FROM locked JOIN {results} e USING (id)
             WHERE r.id = locked.id AND r.event_id = locked.event_id AND e.state <> locked.state
            RETURNING r.id, r.campaign_id, r.event_id, r.variant, locked.state AS old_state, e.state AS new_state),
        tallied AS (
            INSERT INTO campaign_tally AS t (campaign_id, event_id, variant, stripe, {_FIGURES})
            SELECT campaign_id, event_id, variant, pg_backend_pid() % {STRIPES}, {_DIFFERENCES}
              FROM moved GROUP BY 1, 2, 3
            ON CONFLICT {_TALLY_KEY} DO UPDATE SET {_SUMS})"""


RECORD_RESULTS = text(f"""
    WITH results AS (
        SELECT DISTINCT ON (id) * FROM unnest(CAST(:ids AS text[]), CAST(:states AS text[]), CAST(:reasons AS text[]))
               AS u (id, state, reason)),
    {recipient_update_sql("results")}
    SELECT count(*) FROM moved
""")
RESEND_UNCERTAIN = text(f"""
    WITH chosen AS (
        SELECT r.id FROM campaign_recipient r
         WHERE r.campaign_id = {CAMPAIGN} AND r.event_id = CAST(:event_id AS text) AND r.state = 'uncertain'
           AND (CAST(:ids AS text[]) IS NULL OR r.id = ANY(CAST(:ids AS text[])))
         ORDER BY r.id LIMIT {MAX_RESENT}),
    revived AS (
        UPDATE outbox SET {REVIVED} FROM chosen
         WHERE dedupe_key = 'campaign-' || chosen.id AND state = 'uncertain' RETURNING chosen.id),
    results AS (SELECT id, 'pending' AS state, CAST(NULL AS text) AS reason FROM revived),
    {recipient_update_sql("results")},
    recorded AS (
        INSERT INTO campaign_act (campaign_id, event_id, verb, account_id, details)
        SELECT {CAMPAIGN}, CAST(:event_id AS text), 'resent', CAST(:caller_id AS text),
               jsonb_build_object('resent', count(*)) FROM moved
        HAVING count(*) > 0)
    SELECT count(*) FROM moved
""")
READ_HREF = text("""
    SELECT c.href FROM campaign_recipient r JOIN campaign c ON c.id = r.campaign_id AND c.event_id = r.event_id
     WHERE r.id = :id
""")
COUNT_CLICK = text(f"""
    WITH clicked AS (
        UPDATE campaign_recipient SET clicked_at = now() WHERE id = :id AND clicked_at IS NULL
        RETURNING campaign_id, event_id, variant),
    counted AS ({tally_sql("clicked", "clicked")})
    SELECT c.href FROM campaign_recipient r JOIN campaign c ON c.id = r.campaign_id AND c.event_id = r.event_id
     WHERE r.id = :id
""")

_EVENT_COLUMNS = """e.id AS event_id, e.name AS event_name, e.starts_at, e.ends_at, e.timezone AS zone, e.venue, e.city,
       e.organiser_id, coalesce(p.org_name, o.name) AS organiser_name,
       CASE WHEN o.email_verified_at IS NOT NULL THEN coalesce(p.contact_email, o.email) END AS organiser_email"""
_ORGANISER_JOIN = (
    f"JOIN account o ON o.id = {OWNER_ID.format(organisation='e.organiser_id')}"
    " LEFT JOIN organiser_profile p ON p.account_id = e.organiser_id"
)
_EXCLUSION = audience_sql.exclusion_sql(
    "r.channel",
    email="r.person",
    address="r.address",
    organiser="e.organiser_id",
    respect="c.respect_preferences",
)
DUE_MESSAGE = text(f"""
    SELECT {_EVENT_COLUMNS}, r.person, r.name, r.places, r.channel, r.address,
           CASE WHEN r.variant = 'B' THEN coalesce(nullif(c.variant_b_title, ''), c.title) ELSE c.title END AS title,
           CASE WHEN r.variant = 'B' THEN coalesce(nullif(c.variant_b_body, ''), c.body) ELSE c.body END AS body,
           c.href, c.image_url, c.banner_url, {_EXCLUSION} AS exclusion
      FROM campaign_recipient r JOIN campaign c ON c.id = r.campaign_id AND c.event_id = r.event_id
           JOIN event e ON e.id = c.event_id
           {_ORGANISER_JOIN}
     WHERE r.id = :id AND r.state <> 'sent'
""")
TEST_RECIPIENT = text(f"""
    SELECT {_EVENT_COLUMNS}, a.email AS person, a.name, 1 AS places, a.phone
      FROM account a, event e {_ORGANISER_JOIN} WHERE a.id = :account_id AND e.id = :event_id
""")
DEVICES = text("SELECT id, token, platform FROM push_device WHERE account_id = :id ORDER BY seen_at DESC LIMIT 20")

BEGIN_FAN_OUT = text("""
    UPDATE campaign SET status = 'sending', started_at = coalesce(started_at, now()), updated_at = now(),
           version = version + CASE WHEN started_at IS NULL THEN 1 ELSE 0 END
     WHERE id = :id AND turn = :turn AND status IN ('scheduled', 'sending') AND fanned_out_at IS NULL
    RETURNING *
""")
STORE_COUNTS = text("UPDATE campaign SET audience = CAST(:audience AS jsonb) WHERE id = :id AND event_id = :event_id")
END_FAN_OUT = text(
    "UPDATE campaign SET fanned_out_at = now(), updated_at = now() WHERE id = :id AND event_id = :event_id"
)
LONG_TIMEOUT = text("SET LOCAL statement_timeout = '60s'")
# Each page is planned for its own event: a generic plan would read a large event as if it were small.
CUSTOM_PLAN = text("SET LOCAL plan_cache_mode = force_custom_plan")
JOB_LIFETIME = "24 hours"
_ADDRESSES = {"email": "email", "sms": "number", "push": "account_id"}
_HASH = f"left(encode(sha256(convert_to({CAMPAIGN} || ':' || j.email, 'UTF8')), 'hex'), 8)"
VARIANT = f"CASE WHEN ('x' || {_HASH})::bit(32)::bigint % 10000 < CAST(:share AS int) THEN 'B' ELSE 'A' END"
"""The variant depends on campaign and person only, so it is the same on every channel."""


@lru_cache(maxsize=32)
def add_page_sql(audience: str, channels: tuple[str, ...]) -> TextClause:
    """Adds the recipients of the next page of people with their jobs, and stores how far it came.

    Existing rows stay: a person gets a campaign once on a channel, and so does a phone.
    """
    judged = audience_sql.with_reachability_sql(audience_sql.next_page_sql(audience), channels)
    deliveries = ", ".join(
        f"('{channel}', j.{audience_sql.verdict_column(channel)}, j.{_ADDRESSES[channel]})" for channel in channels
    )
    jobs = enqueue_sql(
        "campaigns.deliver",
        "added",
        key="'campaign-' || id",
        payload="jsonb_build_object('recipient_id', id)",
        lasting=JOB_LIFETIME,
    )
    return text(f"""
        WITH j AS MATERIALIZED ({judged}),
        added AS (
            INSERT INTO campaign_recipient (id, campaign_id, event_id, channel, person, address, name, places, variant)
            SELECT {NEW_ID_SQL}, {CAMPAIGN}, CAST(:event_id AS text), delivery.channel, j.email, delivery.address, left(j.name, 200), j.places,
                   {VARIANT}
              FROM j, LATERAL (VALUES {deliveries}) AS delivery (channel, verdict, address)
             WHERE delivery.verdict = '{audience_sql.REACHABLE}' ORDER BY j.email
            ON CONFLICT DO NOTHING RETURNING id, campaign_id, event_id, variant),
        queued AS ({jobs}),
        counted AS ({tally_sql("added", "total")}),
        advanced AS (
            UPDATE campaign SET after = (SELECT max(email) FROM j)
             WHERE id = {CAMPAIGN} AND event_id = CAST(:event_id AS text) AND EXISTS (SELECT FROM j))
        SELECT count(*), max(email) FROM j
    """)


# Sent: at least one message succeeded, or there was no recipient. Failed: there were recipients and all failed.
FINISH = text("""
    WITH tally AS (
        SELECT coalesce(sum(total), 0) AS total, coalesce(sum(sent + uncertain + suppressed), 0) AS not_failed,
               coalesce(sum(failed), 0) AS failed
          FROM campaign_tally WHERE campaign_id = :id
    ), finished AS (
        UPDATE campaign SET finished_at = now(), updated_at = now(), version = version + 1,
               status = CASE WHEN tally.failed > 0 AND tally.not_failed = 0 THEN 'failed' ELSE 'sent' END
          FROM tally
         WHERE id = :id AND status = 'sending' AND fanned_out_at IS NOT NULL
           AND tally.not_failed + tally.failed >= tally.total
    )
    SELECT total - not_failed - failed FROM tally
""")
FAIL = text("""
    UPDATE campaign SET status = 'failed', finished_at = now(), updated_at = now(), version = version + 1
     WHERE id = ANY(:ids) AND status IN ('sending', 'scheduled')
""")
