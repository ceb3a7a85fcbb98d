"""The statements that change slots, and the conditions that several statements share.

A change is one statement. Its CTE `changed` changes or inserts slots and returns `id, block_id, event_id,
ticket_type_id`, the status before and after (`old_status`, null for a new slot, and `new_status`) and `gate`.
INSERT_SLOT_EVENTS logs each of them. RECORD_CHANGES does that too, and updates the counters of the block, of the ticket
type, and of the day.

Parameters of every change: `verb, actor, actor_id`. Parameters of RECORD_CHANGES: `open_link_claims`, the number of
slots that were claimed by the open link.
"""

from dataclasses import dataclass

from sqlalchemy import TextClause, text

from app.accounts.caller import Caller
from app.admissions.sql import RECORD_ADMISSIONS, STRIPES
from app.allocations import states
from app.audit.sql import insert_entries_sql
from app.events.queries import OWNED_EVENT_SQL


@dataclass(frozen=True)
class Actor:
    """Who makes a change: `organiser`, `holder`, `guest` or `service`, and the account's id if there is one."""

    role: str
    id: str | None = None

    def build_params(self, verb: str, *, open_link_claims: int = 0) -> dict[str, str | int | None]:
        """The parameters that every change has."""
        return {"verb": verb, "actor": self.role, "actor_id": self.id, "open_link_claims": open_link_claims}


HOLDER_ACTOR, GUEST_ACTOR, SERVICE_ACTOR = Actor(states.HOLDER), Actor(states.GUEST), Actor(states.SERVICE)


def build_organiser_actor(caller: Caller) -> Actor:
    return Actor(states.ORGANISER, caller.id)


BLOCK_STATUS = """
    CASE WHEN b.available + m.available + b.invited + m.invited > 0 THEN 'open'
         WHEN m.released > 0 OR b.status = 'released' THEN 'released'
         WHEN b.available + m.available + b.invited + m.invited
            + b.claimed + m.claimed + b.admitted + m.admitted > 0 THEN 'exhausted'
         WHEN b.released + m.released > 0 THEN 'released'
         ELSE 'cancelled' END"""
"""The status of the block `b` after the changes `m` of its counters."""


def insert_slot_events_sql(rows: str = "changed") -> str:
    """Return the CTE that logs the changes of slots in `rows`."""
    return f"""
    slot_events AS (
        INSERT INTO allocation_slot_event
               (slot_id, block_id, event_id, verb, from_status, to_status, actor, actor_id, gate)
        SELECT id, block_id, event_id, :verb, old_status, new_status, :actor, :actor_id, gate FROM {rows})"""


INSERT_SLOT_EVENTS = insert_slot_events_sql()

RECORD_CHANGES = f"""
    {INSERT_SLOT_EVENTS},
    counter_changes AS (
        SELECT block_id, event_id, ticket_type_id,
               count(*) FILTER (WHERE new_status = 'available')
             - count(*) FILTER (WHERE old_status = 'available') AS available,
               count(*) FILTER (WHERE new_status = 'invited')
             - count(*) FILTER (WHERE old_status = 'invited') AS invited,
               count(*) FILTER (WHERE new_status = 'claimed')
             - count(*) FILTER (WHERE old_status = 'claimed') AS claimed,
               count(*) FILTER (WHERE new_status = 'admitted')
             - count(*) FILTER (WHERE old_status = 'admitted') AS admitted,
               count(*) FILTER (WHERE new_status = 'revoked')
             - count(*) FILTER (WHERE old_status = 'revoked') AS revoked,
               count(*) FILTER (WHERE new_status = 'released')
             - count(*) FILTER (WHERE old_status = 'released') AS released
          FROM changed GROUP BY block_id, event_id, ticket_type_id),
    updated_block AS (
        UPDATE allocation_block b
           SET available = b.available + m.available, invited = b.invited + m.invited,
               claimed = b.claimed + m.claimed, admitted = b.admitted + m.admitted,
               revoked = b.revoked + m.revoked, released = b.released + m.released,
               status = {BLOCK_STATUS},
               version = b.version + 1, updated_at = now(), open_claims = b.open_claims + :open_link_claims
          FROM counter_changes m WHERE b.id = m.block_id AND b.event_id = m.event_id
        RETURNING m.*),
    updated_ticket_type AS (
        UPDATE ticket_type t
           SET available = t.available + m.available, invited = t.invited + m.invited,
               claimed = t.claimed + m.claimed, admitted = t.admitted + m.admitted,
               revoked = t.revoked + m.revoked, released = t.released + m.released,
               oversold = least(t.oversold, greatest(0, t.available + t.invited + t.claimed + t.admitted + t.sold
                                                        + m.available + m.invited + m.claimed + m.admitted - t.total))
          FROM updated_block m
         WHERE t.id = m.ticket_type_id AND t.event_id = m.event_id
           AND t.public >= m.available + m.invited + m.claimed + m.admitted
        RETURNING t.id, t.event_id, m.available, m.invited, m.claimed, m.admitted, m.revoked, m.released),
    daily_figures AS (
        INSERT INTO ticket_tally AS d
               (ticket_type_id, event_id, day, sold, allocated, invited, claimed, admitted, revoked, released,
                revenue_minor)
        SELECT m.id, m.event_id, (now() AT TIME ZONE e.timezone)::date, 0,
               greatest(0, m.available + m.invited + m.claimed + m.admitted), greatest(0, m.invited),
               greatest(0, m.claimed), greatest(0, m.admitted), m.revoked, m.released, 0
          FROM updated_ticket_type m JOIN event e ON e.id = m.event_id
        ON CONFLICT ON CONSTRAINT pk_ticket_tally DO UPDATE
           SET allocated = d.allocated + excluded.allocated, invited = d.invited + excluded.invited,
               claimed = d.claimed + excluded.claimed, admitted = d.admitted + excluded.admitted,
               revoked = d.revoked + excluded.revoked, released = d.released + excluded.released)"""
"""Logs the changes, and adds them to the counters. A block or a ticket type that has too few places is left out:
then `updated_ticket_type` is empty. Places come from the public count; returning places first reduce `oversold`.
"""

FREE_SLOTS = """
    free_slots AS (
        SELECT id, row_number() OVER (ORDER BY id) AS number FROM allocation_slot
         WHERE block_id = :block_id AND event_id = :event_id AND given_at IS NULL AND ended_at IS NULL
         ORDER BY id LIMIT :count)"""
"""The CTE of so many free places of a block, numbered from one."""

INSERT_SLOTS = text(f"""
    WITH changed AS (
        INSERT INTO allocation_slot AS s (id, block_id, event_id, ticket_type_id)
        SELECT unnest(CAST(:ids AS text[])), :block_id, :event_id, :ticket_type_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, NULL::text AS old_status, s.status AS new_status,
                  NULL::text AS gate),
    {RECORD_CHANGES}
    SELECT id FROM updated_ticket_type""")
"""The free slots of a new block. No row when the ticket type has too few places."""


def _build_move_slots(condition: str) -> TextClause:
    """Return the statement that moves the chosen slots of a block to another block of the same ticket type."""
    return text(f"""
    WITH chosen_slots AS (
        SELECT id, status FROM allocation_slot
         WHERE block_id = :block_id AND event_id = :event_id AND {condition}
         ORDER BY id LIMIT :quantity),
    changed AS (
        UPDATE allocation_slot s SET block_id = :to_block_id, version = s.version + 1
          FROM chosen_slots c WHERE s.id = c.id AND s.event_id = :event_id AND s.status = c.status
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, s.status AS old_status, s.status AS new_status,
                  NULL::text AS gate),
    {INSERT_SLOT_EVENTS},
    sums AS (
        SELECT count(*) FILTER (WHERE new_status = 'available') AS available,
               count(*) FILTER (WHERE new_status = 'invited') AS invited,
               count(*) FILTER (WHERE new_status = 'claimed') AS claimed FROM changed),
    counter_changes AS (
        SELECT c.block_id, c.sign * available AS available, c.sign * invited AS invited, c.sign * claimed AS claimed,
               0 AS revoked, 0 AS released, 0 AS admitted
          FROM sums, (VALUES (CAST(:block_id AS text), -1), (:to_block_id, 1)) c (block_id, sign)),
    updated_blocks AS (
        UPDATE allocation_block b
           SET available = b.available + m.available, invited = b.invited + m.invited,
               claimed = b.claimed + m.claimed, quantity = b.quantity + m.available + m.invited + m.claimed,
               status = {BLOCK_STATUS},
               version = b.version + 1, updated_at = now()
          FROM counter_changes m WHERE b.id = m.block_id AND b.event_id = :event_id)
    SELECT count(*) FROM changed""")


MOVE_FREE_SLOTS = _build_move_slots("given_at IS NULL AND ended_at IS NULL")
MOVE_CHOSEN_SLOTS = _build_move_slots(
    "id = ANY(CAST(:slot_ids AS text[])) AND status IN ('available', 'invited', 'claimed')"
)
"""A slot that was admitted meanwhile does not move, so the count is smaller."""

CLAIM_INVITED_SLOT = text(f"""
    WITH changed AS (
        UPDATE allocation_slot s
           SET status = 'claimed', claim_code = s.code, code = :code, name = :name, email = :email,
               phone = :phone, delivery = :delivery, language = :language, party_id = s.id, claimed_at = now(),
               version = s.version + 1
         WHERE s.id = :slot_id AND s.event_id = :event_id AND s.block_id = :block_id AND s.status = 'invited'
           AND s.generation = coalesce(CAST(:generation AS integer), s.generation)
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, 'invited' AS old_status, s.status AS new_status,
                  NULL::text AS gate, s.code, s.claimed_at, s.generation),
    {RECORD_CHANGES}
    SELECT id, code, claimed_at, generation FROM changed""")

CLAIM_FREE_SLOTS = text(f"""
    WITH free_slots AS (
        SELECT id, row_number() OVER (ORDER BY id) AS number, min(id) OVER () AS party_id FROM (
            SELECT id FROM allocation_slot
             WHERE block_id = :block_id AND event_id = :event_id AND given_at IS NULL AND ended_at IS NULL
               AND (:allow_duplicates OR NOT EXISTS (
                   SELECT FROM allocation_slot taken
                    WHERE taken.block_id = :block_id AND taken.event_id = :event_id AND taken.email = :email
                      AND taken.via = :via AND taken.ended_at IS NULL))
             ORDER BY id LIMIT :quantity) first_free),
    changed AS (
        UPDATE allocation_slot s
           SET status = 'claimed', via = :via, code = c.code, name = :name, email = :email, phone = :phone,
               delivery = :delivery, language = :language, party_id = f.party_id, party_size = :quantity,
               given_at = now(), claimed_at = now(), version = s.version + 1
          FROM free_slots f JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
         WHERE s.id = f.id AND s.event_id = :event_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, 'available' AS old_status, s.status AS new_status,
                  NULL::text AS gate, s.code, s.claimed_at, s.generation),
    {RECORD_CHANGES}
    SELECT id, code, claimed_at, generation FROM changed ORDER BY id""")
"""No row when the address has a slot by the same kind of link, unless `allow_duplicates`."""

CLAIM_PACK = text(f"""
    WITH new_pack AS (
        INSERT INTO ticket_pack (id, block_id, event_id, count, status, created_by)
        VALUES (:pack_id, :block_id, :event_id, :count, 'queued', :actor_id) RETURNING id),
    {FREE_SLOTS},
    pack_slots AS (
        INSERT INTO ticket_pack_slot (slot_id, pack_id, event_id, number)
        SELECT f.id, p.id, :event_id, f.number FROM free_slots f, new_pack p RETURNING slot_id),
    changed AS (
        UPDATE allocation_slot s
           SET status = 'claimed', via = 'pack', code = c.code, delivery = 'e_ticket', party_id = s.id,
               given_at = now(), claimed_at = now(), version = s.version + 1
          FROM free_slots f JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
         WHERE s.id = f.id AND s.event_id = :event_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, 'available' AS old_status, s.status AS new_status,
                  NULL::text AS gate),
    {RECORD_CHANGES}
    SELECT count(*) FROM changed""")

REASSIGN_SLOT = text(f"""
    WITH changed AS (
        UPDATE allocation_slot s
           SET name = :name, email = :email, phone = :phone, delivery = :delivery, language = :language, code = :code,
               party_id = :party_id, party_size = 1, generation = s.generation + 1, version = s.version + 1
         WHERE s.id = :slot_id AND s.event_id = :event_id AND s.status = 'claimed'
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, s.status AS old_status, s.status AS new_status,
                  NULL::text AS gate, s.generation),
    {INSERT_SLOT_EVENTS},
    updated_block AS (
        UPDATE allocation_block b SET version = b.version + 1, updated_at = now()
          FROM changed c WHERE b.id = c.block_id AND b.event_id = c.event_id)
    SELECT generation FROM changed""")

RELEASE_SLOTS = text(f"""
    WITH unused_slots AS (
        SELECT id, status FROM allocation_slot
         WHERE block_id = :block_id AND event_id = :event_id AND status IN ('available', 'invited')
           AND ended_at IS NULL
         ORDER BY given_at NULLS FIRST, id LIMIT :quantity),
    changed AS (
        UPDATE allocation_slot s
           SET status = 'released', ended_at = now(), version = s.version + 1, generation = s.generation + 1
          FROM unused_slots u WHERE s.id = u.id AND s.event_id = :event_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, u.status AS old_status, s.status AS new_status,
                  NULL::text AS gate),
    {RECORD_CHANGES}
    SELECT count(*) FROM changed""")
"""Free slots go first, then the invitations that are the oldest."""

REVOKE_TO_PUBLIC = text(f"""
    WITH changed AS (
        UPDATE allocation_slot s
           SET status = 'revoked', ended_at = now(), version = s.version + 1, generation = s.generation + 1
         WHERE s.id = :slot_id AND s.event_id = :event_id AND s.status = :old_status
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, CAST(:old_status AS text) AS old_status,
                  s.status AS new_status, NULL::text AS gate),
    {RECORD_CHANGES}
    SELECT id FROM changed""")

REVOKE_TO_BLOCK = text(f"""
    WITH revoked_slot AS (
        UPDATE allocation_slot s
           SET status = 'revoked', ended_at = now(), version = s.version + 1, generation = s.generation + 1
         WHERE s.id = :slot_id AND s.event_id = :event_id AND s.status = :old_status
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, CAST(:old_status AS text) AS old_status,
                  s.status AS new_status),
    new_slot AS (
        INSERT INTO allocation_slot AS s (id, block_id, event_id, ticket_type_id)
        SELECT :new_slot_id, block_id, event_id, ticket_type_id FROM revoked_slot
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, NULL::text AS old_status, s.status AS new_status,
                  NULL::text AS gate),
    changed AS (
        SELECT id, block_id, event_id, ticket_type_id, old_status, new_status, NULL::text AS gate FROM revoked_slot
        UNION ALL SELECT * FROM new_slot),
    {RECORD_CHANGES}
    SELECT id FROM changed""")
"""Revokes a slot, and inserts a free one in the same block."""


def count_admissions_sql(rows: str = "changed", *, with_timezone: bool = False) -> str:
    """Return the CTE that counts the admitted slots in `rows`, which may have the `timezone` of the event.

    Each connection counts in a stripe of its own, so that scanners do not wait for one counter.
    """
    source = f"{rows} c" if with_timezone else f"{rows} c JOIN event e ON e.id = c.event_id"
    return f"""
    admissions AS (
        INSERT INTO ticket_admission AS a (ticket_type_id, block_id, event_id, day, stripe, count)
        SELECT c.ticket_type_id, c.block_id, c.event_id, (now() AT TIME ZONE timezone)::date,
               pg_backend_pid() % {STRIPES}, count(*)
          FROM {source} GROUP BY 1, 2, 3, 4
        ON CONFLICT ON CONSTRAINT pk_ticket_admission DO UPDATE SET count = a.count + excluded.count)"""


AUDIT_ADMISSIONS = f"""
    audit AS ({
    insert_entries_sql(
        "changed c JOIN event e ON e.id = c.event_id",
        organisation_id="e.organiser_id",
        event_id="e.id",
        subject="c.id",
        data="jsonb_strip_nulls(jsonb_build_object('block', c.block_id, 'gate', c.gate))",
    )
})"""

WILL_CALL_ENTRY = """'allocation' AS place_kind, s.admitted_at AS occurred_at, 'in' AS direction,
                  false AS is_reentry, 0 AS remaining"""
"""The columns of RECORD_ADMISSIONS that the will-call list adds to a slot."""

ADMIT_SLOT = text(f"""
    WITH changed AS (
        UPDATE allocation_slot s
           SET status = 'admitted', admitted_at = least(coalesce(CAST(:occurred_at AS timestamptz), now()), now()),
               admitted_by = :actor_id, gate = :gate, nonce = :nonce, version = s.version + 1
          FROM event e
         WHERE s.id = :slot_id AND s.event_id = :event_id AND s.status = 'claimed' AND e.id = s.event_id
           AND {OWNED_EVENT_SQL}
        RETURNING s.*, 'claimed' AS old_status, s.status AS new_status, {WILL_CALL_ENTRY}),
    {INSERT_SLOT_EVENTS},
    {count_admissions_sql()},
    {RECORD_ADMISSIONS},
    {AUDIT_ADMISSIONS}
    SELECT id, status, name, email, phone, code, ticket_type_id, block_id, party_id, party_size, version,
           admitted_at, gate FROM changed""")

ADMIT_PARTY = text(f"""
    WITH changed AS (
        UPDATE allocation_slot s
           SET status = 'admitted', admitted_at = least(coalesce(CAST(:occurred_at AS timestamptz), now()), now()),
               admitted_by = :actor_id, gate = :gate, nonce = :nonce, version = s.version + 1
         WHERE s.id = ANY(CAST(:ids AS text[])) AND s.event_id = :event_id
        RETURNING s.*, 'claimed' AS old_status, s.status AS new_status, {WILL_CALL_ENTRY}),
    {INSERT_SLOT_EVENTS},
    {count_admissions_sql()},
    {RECORD_ADMISSIONS},
    {AUDIT_ADMISSIONS}
    SELECT id, status, name, email, phone, code, ticket_type_id, block_id, party_id, party_size, version,
           admitted_at, gate FROM changed""")

PAYMENTS_UNLIKE_THEIR_BOOKINGS = """
    SELECT format('invoice %s: the payment says %s, the ledger %s on %s', reference, coalesce(paid.amount, 0),
                  coalesce(booked.amount, 0), coalesce(booked.account, 'nothing'))
      FROM (
           SELECT CASE p.number WHEN 1 THEN i.id ELSE i.id || '-' || p.number END AS reference,
                  i.organiser_id AS owner, i.event_id, p.amount_minor AS amount, 'bank' AS account
             FROM invoice_payment p JOIN invoice i ON i.id = p.invoice_id AND i.event_id = p.event_id) paid
      FULL JOIN (
           SELECT t.reference, t.owner_id AS owner, t.event_id, -e.amount_minor AS amount, e.account
             FROM ledger_transaction t JOIN ledger_entry e ON e.transaction_id = t.id AND e.account <> 'organisation'
            WHERE t.kind = 'block_invoice') booked
     USING (reference)
     WHERE (paid.owner, paid.event_id, paid.amount, paid.account)
           IS DISTINCT FROM (booked.owner, booked.event_id, booked.amount, booked.account)
"""
"""Returns a sentence for each difference, for `flask ledger verify`."""

PAYMENTS_UNLIKE_WHAT_TAKES_THEM_BACK = """
    SELECT format('invoice %s: payment %s of %s is taken back by %s of %s', b.invoice_id, b.takes_back,
                  coalesce(CAST(p.amount_minor AS text), 'nothing'), b.number, b.amount_minor)
      FROM invoice_payment b
      LEFT JOIN invoice_payment p
        ON p.event_id = b.event_id AND p.invoice_id = b.invoice_id AND p.number = b.takes_back AND p.takes_back IS NULL
     WHERE b.takes_back IS NOT NULL AND p.amount_minor IS DISTINCT FROM -b.amount_minor
"""
"""Returns a sentence for each difference, for `flask ledger verify`."""
