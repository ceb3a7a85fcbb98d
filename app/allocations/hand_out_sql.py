"""The statements that give out free places by a list: claim codes, invitations, guests who are named, reminders.

They have the form and the parameters of the changes in `sql.py`.
"""

from sqlalchemy import text

from app.allocations.sql import FREE_SLOTS, INSERT_SLOT_EVENTS, RECORD_CHANGES

ASSIGN_CLAIM_CODES = text(f"""
    WITH {FREE_SLOTS},
    changed AS (
        UPDATE allocation_slot s
           SET status = 'invited', via = 'code', code = c.code, given_at = now(), version = s.version + 1
          FROM free_slots f JOIN unnest(CAST(:codes AS text[])) WITH ORDINALITY c (code, number) USING (number)
         WHERE s.id = f.id AND s.event_id = :event_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, 'available' AS old_status, s.status AS new_status,
                  NULL::text AS gate, s.code),
    {RECORD_CHANGES}
    SELECT id, code FROM changed ORDER BY id""")

INVITE_RECIPIENTS = text(f"""
    WITH {FREE_SLOTS},
    changed AS (
        UPDATE allocation_slot s
           SET status = 'invited', via = 'invite', name = r.name, email = r.email, phone = r.phone,
               given_at = now(), version = s.version + 1
          FROM free_slots f
          JOIN unnest(CAST(:names AS text[]), CAST(:emails AS text[]), CAST(:phones AS text[]))
               WITH ORDINALITY r (name, email, phone, number) USING (number)
         WHERE s.id = f.id AND s.event_id = :event_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, 'available' AS old_status, s.status AS new_status,
                  NULL::text AS gate, s.name, s.email, s.generation),
    {RECORD_CHANGES}
    SELECT id, name, email, generation FROM changed ORDER BY id""")

REMIND_RECIPIENTS = text(f"""
    WITH changed AS (
        UPDATE allocation_slot s SET reminded_at = now(), version = s.version + 1
         WHERE s.block_id = :block_id AND s.event_id = :event_id AND s.status = 'invited' AND s.email IS NOT NULL
           AND (s.reminded_at IS NULL OR s.reminded_at <= now() - interval '24 hours')
           AND (CAST(:slot_ids AS text[]) IS NULL OR s.id = ANY(CAST(:slot_ids AS text[])))
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, s.status AS old_status, s.status AS new_status,
                  NULL::text AS gate, s.name, s.email, s.generation),
    {INSERT_SLOT_EVENTS}
    SELECT id, name, email, generation FROM changed ORDER BY id""")

CLAIM_FOR_GUESTS = text(f"""
    WITH {FREE_SLOTS},
    places AS (
        SELECT f.id, g.*, min(f.id) OVER (PARTITION BY g.guest) AS party_id, count(*) OVER (PARTITION BY g.guest) AS size
          FROM free_slots f
          JOIN unnest(CAST(:guests AS integer[]), CAST(:names AS text[]), CAST(:emails AS text[]),
                      CAST(:phones AS text[]), CAST(:deliveries AS text[]), CAST(:codes AS text[]))
               WITH ORDINALITY g (guest, name, email, phone, delivery, code, number) USING (number)),
    changed AS (
        UPDATE allocation_slot s
           SET status = 'claimed', via = :via, code = p.code, name = p.name, email = p.email, phone = p.phone,
               delivery = p.delivery, language = :language, party_id = p.party_id, party_size = p.size,
               given_at = now(), claimed_at = now(), version = s.version + 1
          FROM places p WHERE s.id = p.id AND s.event_id = :event_id
        RETURNING s.id, s.block_id, s.event_id, s.ticket_type_id, 'available' AS old_status, s.status AS new_status,
                  NULL::text AS gate, p.guest, s.generation),
    {RECORD_CHANGES}
    SELECT min(id) AS id, min(generation) AS generation FROM changed GROUP BY guest ORDER BY guest""")
"""Claims places for guests who are named. The lists have one element for each place; places of the same `guest` are a
party. Returns the first place of each guest, and its generation."""
