"""The SQL of an import of tickets: it compares and writes all rows of a staging table in one statement.

`ticket_plan` has a row for each ticket: the present state (`known`, `old_type`, `old_status`) and the values that it gets.
An undo fills it with the values of before, with a null status for a ticket that goes, and runs the same statements.
"""

from sqlalchemy import text

from app.core.ids import NEW_ID_SQL
from app.events.availability import FLOWS

GATE_CHANNEL = "gate"
"""The channel of NOTIFY for changes of who may enter; the message is the event's id."""
PATIENCE = (
    "SET LOCAL lock_timeout = '60s'",
    "SET LOCAL statement_timeout = '10min'",
    "SET LOCAL idle_in_transaction_session_timeout = '10min'",
)
CREATE_STAGING = text("""
    CREATE TEMP TABLE ticket_staging (
        row int, reference text COLLATE "C", ticket_type_id text COLLATE "C", name text, email text,
        price_minor bigint, sold_at timestamptz, status text, order_number text, secret text COLLATE "C",
        valid_from timestamptz, valid_until timestamptz
    ) ON COMMIT DROP
""")
COPY_TO_STAGING = "COPY ticket_staging FROM STDIN"
CREATE_PLAN = text("""
    CREATE TEMP TABLE ticket_plan (
        row int, reference text COLLATE "C", ticket_type_id text COLLATE "C", status text, known text COLLATE "C",
        old_type text COLLATE "C", old_status text, name text, email text, price_minor bigint, sold_at timestamptz,
        order_number text, secret text COLLATE "C", valid_from timestamptz, valid_until timestamptz, skipped boolean,
        same boolean, unpriced boolean
    ) ON COMMIT DROP
""")
"""The columns have types, because PostgreSQL keeps the plans of statements for imports and undos."""
PLAN_IMPORT = text("""
    INSERT INTO ticket_plan
    SELECT s.row, s.reference, s.ticket_type_id, s.status, t.id AS known, t.ticket_type_id AS old_type,
           t.status AS old_status, coalesce(s.name, t.name) AS name, coalesce(s.email, t.email) AS email,
           coalesce(s.price_minor, t.price_minor, k.price_minor) AS price_minor,
           coalesce(s.sold_at, t.sold_at, now()) AS sold_at,
           coalesce(s.order_number, t.order_number) AS order_number, coalesce(s.secret, t.secret) AS secret,
           coalesce(s.valid_from, t.valid_from) AS valid_from, coalesce(s.valid_until, t.valid_until) AS valid_until,
           t.id IS NULL AND s.status <> 'sold' AS skipped,
           t.id IS NOT NULL AND (t.ticket_type_id, t.status) = (s.ticket_type_id, s.status)
               AND coalesce(s.name, t.name) IS NOT DISTINCT FROM t.name
               AND coalesce(s.email, t.email) IS NOT DISTINCT FROM t.email
               AND coalesce(s.price_minor, t.price_minor) = t.price_minor
               AND coalesce(s.sold_at, t.sold_at) = t.sold_at
               AND coalesce(s.order_number, t.order_number) IS NOT DISTINCT FROM t.order_number
               AND coalesce(s.secret, t.secret) IS NOT DISTINCT FROM t.secret
               AND coalesce(s.valid_from, t.valid_from) IS NOT DISTINCT FROM t.valid_from
               AND coalesce(s.valid_until, t.valid_until) IS NOT DISTINCT FROM t.valid_until AS same,
           t.id IS NULL AND s.price_minor IS NULL AS unpriced
      FROM ticket_staging s
      JOIN ticket_type k ON k.id = s.ticket_type_id
      LEFT JOIN ticket t ON t.event_id = :event AND t.reference = s.reference
""")
COUNT_PLAN = text("""
    SELECT count(*) FILTER (WHERE known IS NULL AND NOT skipped) AS created,
           count(*) FILTER (WHERE known IS NOT NULL AND NOT same) AS updated,
           count(*) FILTER (WHERE same) AS unchanged,
           count(*) FILTER (WHERE skipped) AS skipped,
           count(*) FILTER (WHERE old_status = 'sold' AND status <> 'sold') AS cancelled
      FROM ticket_plan
""")
SUM_NEW_TICKETS = text("""
    SELECT coalesce(sum(price_minor), 0)::bigint AS price_minor, count(*) FILTER (WHERE sold_at = now()) AS undated
      FROM ticket_plan WHERE known IS NULL AND NOT skipped
""")
"""`undated` are the new tickets without a day of sale: PLAN_IMPORT gives them the time of the import."""
LIST_UNPRICED = text("""
    SELECT k.name AS ticket_type, k.price_minor, count(*) AS tickets
      FROM ticket_plan p JOIN ticket_type k ON k.id = p.ticket_type_id
     WHERE p.unpriced AND NOT p.skipped GROUP BY k.id, k.name, k.price_minor, k.position ORDER BY k.position, k.id
""")
LIST_CANCELLED = text("""
    SELECT p.reference, p.name, CASE WHEN p.secret = p.reference THEN p.secret END AS secret,
           t.admitted_at IS NOT NULL AS admitted, count(t.admitted_at) OVER () AS all_admitted
      FROM ticket_plan p JOIN ticket t ON t.id = p.known AND t.event_id = :event
     WHERE p.old_status = 'sold' AND p.status <> 'sold' ORDER BY p.row LIMIT :limit
""")
COUNT_MISSING = text("""
    SELECT count(*) FROM ticket t
     WHERE t.event_id = :event AND t.status = 'sold' AND NOT EXISTS (SELECT FROM ticket_plan p WHERE p.known = t.id)
""")
TAKEN_SECRETS = text("""
    SELECT p.row, p.secret, t.reference
      FROM ticket_plan p
      JOIN ticket t ON t.event_id = :event AND t.secret = p.secret AND t.id IS DISTINCT FROM p.known
      LEFT JOIN ticket_plan changed ON changed.known = t.id AND changed.secret <> t.secret
     WHERE NOT p.skipped AND changed.known IS NULL ORDER BY p.row
""")
REVERSED_PERIODS = text("""
    SELECT row FROM ticket_plan WHERE valid_until <= valid_from AND NOT skipped AND NOT coalesce(same, false) ORDER BY row
""")
SOLD_DELTAS = text("""
    SELECT ticket_type_id AS id, sum(delta)::int AS delta FROM (
        SELECT ticket_type_id, 1 AS delta FROM ticket_plan WHERE status = 'sold'
        UNION ALL
        SELECT old_type AS ticket_type_id, -1 AS delta FROM ticket_plan WHERE old_status = 'sold'
    ) moves GROUP BY ticket_type_id HAVING sum(delta) <> 0 ORDER BY ticket_type_id
""")
LOCK_TYPES = text("""
    SELECT id, name, public, total, total + oversold - public AS committed
      FROM ticket_type WHERE id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE
""")
FIRST_ROW_BEYOND_TYPE = text("""
    SELECT row FROM ticket_plan
     WHERE ticket_type_id = :id AND status = 'sold' AND (old_status IS DISTINCT FROM 'sold' OR old_type <> :id)
     ORDER BY row OFFSET :free LIMIT 1
""")
FIRST_ROW_BEYOND_CAPACITY = text("""
    SELECT row FROM ticket_plan WHERE status = 'sold' AND old_status IS DISTINCT FROM 'sold'
     ORDER BY row DESC OFFSET :beyond LIMIT 1
""")
RELEASE_SECRETS = text("""
    UPDATE ticket t SET secret = NULL FROM ticket_plan p
     WHERE t.id = p.known AND t.event_id = :event AND t.secret IS NOT NULL AND p.secret IS DISTINCT FROM t.secret
""")
KEEP_PREVIOUS_VALUES = text("""
    INSERT INTO ticket_import_change (import_id, event_id, ticket_id, ticket_type_id, name, email, price_minor, sold_at,
                                      status, order_number, secret, valid_from, valid_until)
    SELECT :import_id, t.event_id, t.id, t.ticket_type_id, t.name, t.email, t.price_minor, t.sold_at,
           t.status, t.order_number, t.secret, t.valid_from, t.valid_until
      FROM ticket_plan p JOIN ticket t ON t.id = p.known AND t.event_id = :event WHERE NOT p.same
""")
INSERT_TICKETS = text(f"""
    WITH created AS (
        INSERT INTO ticket (id, event_id, ticket_type_id, reference, name, email, price_minor, sold_at, status,
                            order_number, secret, valid_from, valid_until, transaction_id)
        SELECT {NEW_ID_SQL}, :event, ticket_type_id, reference, name, email, price_minor, sold_at, status,
               order_number, secret, valid_from, valid_until, pg_current_xact_id()
          FROM ticket_plan WHERE known IS NULL AND NOT skipped ORDER BY row
        RETURNING id, event_id)
    INSERT INTO ticket_import_change (import_id, event_id, ticket_id) SELECT :import_id, event_id, id FROM created
""")
UPDATE_TICKETS = text("""
    UPDATE ticket t
       SET ticket_type_id = p.ticket_type_id, name = p.name, email = p.email, price_minor = p.price_minor,
           sold_at = p.sold_at, status = p.status, order_number = p.order_number, secret = p.secret,
           valid_from = p.valid_from, valid_until = p.valid_until, transaction_id = pg_current_xact_id()
      FROM ticket_plan p WHERE t.id = p.known AND t.event_id = :event AND NOT p.same
""")
NOTIFY_GATE = text(f"SELECT pg_notify('{GATE_CHANNEL}', :event)")
CHANGED_TYPES = text("""
    SELECT ticket_type_id FROM ticket_plan WHERE NOT same AND ticket_type_id IS NOT NULL UNION
    SELECT old_type FROM ticket_plan WHERE NOT same AND old_type IS NOT NULL
""")
CLEAR_TALLY = text("UPDATE ticket_tally SET sold = 0, revenue_minor = 0 WHERE ticket_type_id = ANY(:ids)")
WRITE_TALLY = text(f"""
    INSERT INTO ticket_tally (ticket_type_id, event_id, day, {", ".join(FLOWS)})
    SELECT t.ticket_type_id, t.event_id, (t.sold_at AT TIME ZONE e.timezone)::date AS day,
           {", ".join({"sold": "count(*)", "revenue_minor": "sum(t.price_minor)"}.get(flow, "0") for flow in FLOWS)}
      FROM ticket_type y
      JOIN ticket t ON t.ticket_type_id = y.id AND t.event_id = y.event_id
      JOIN event e ON e.id = t.event_id
     WHERE y.id = ANY(:ids) AND t.status = 'sold' GROUP BY t.ticket_type_id, t.event_id, day
    ON CONFLICT ON CONSTRAINT pk_ticket_tally DO UPDATE
       SET sold = excluded.sold, revenue_minor = excluded.revenue_minor
""")
