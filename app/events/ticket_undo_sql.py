"""The SQL that undoes an import of tickets: what prevents it, and a plan that has the values of before."""

from sqlalchemy import text

HAS_ADMITTED_TICKETS = """EXISTS (
    SELECT FROM ticket_import_change c
      JOIN admission a ON a.event_id = c.event_id AND a.place_id = c.ticket_id
     WHERE c.event_id = ticket_import.event_id AND c.import_id = ticket_import.id AND a.undone_at IS NULL
       AND (c.status IS NULL OR a.recorded_at >= ticket_import.imported_at))"""
"""Guests entered with tickets that the import created, or after it with tickets that it changed."""
LATER_IMPORTS = """
    SELECT later.id FROM ticket_import later
     WHERE later.event_id = ticket_import.event_id AND later.number > ticket_import.number AND later.undone_at IS NULL
       AND EXISTS (
           SELECT FROM (
               SELECT c.ticket_id FROM ticket_import_change c
                WHERE c.event_id = ticket_import.event_id AND c.import_id = ticket_import.id
               UNION ALL
               SELECT t.id FROM ticket_import_change c JOIN ticket t ON t.event_id = c.event_id AND t.secret = c.secret
                WHERE c.event_id = ticket_import.event_id AND c.import_id = ticket_import.id) needed
             JOIN ticket_import_change d ON d.ticket_id = needed.ticket_id
            WHERE d.event_id = later.event_id AND d.import_id = later.id)"""
"""Later imports that changed tickets of the import, or tickets that now have a secret from before it."""
LACKS_TYPES = """EXISTS (
    SELECT FROM ticket_import_change c
     WHERE c.event_id = ticket_import.event_id AND c.import_id = ticket_import.id AND c.ticket_type_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM ticket_type y WHERE y.id = c.ticket_type_id AND y.event_id = c.event_id))"""
LIST_LATER_IMPORTS = text(f"""
    SELECT later.id FROM ticket_import, LATERAL ({LATER_IMPORTS} ORDER BY later.number DESC) later
     WHERE ticket_import.id = :import_id AND ticket_import.event_id = :event""")
COUNT_ADMITTED_TICKETS = text("""
    SELECT count(DISTINCT c.ticket_id) FROM ticket_import i
      JOIN ticket_import_change c ON c.event_id = i.event_id AND c.import_id = i.id
      JOIN admission a ON a.event_id = c.event_id AND a.place_id = c.ticket_id
     WHERE i.id = :import_id AND i.event_id = :event AND a.undone_at IS NULL
       AND (c.status IS NULL OR a.recorded_at >= i.imported_at)""")
LOCK_TICKETS = text("""
    SELECT count(*) FROM (
        SELECT t.id FROM ticket_import_change c JOIN ticket t ON t.id = c.ticket_id AND t.event_id = c.event_id
         WHERE c.import_id = :import_id AND c.event_id = :event ORDER BY t.id FOR UPDATE OF t) locked""")
PLAN_UNDO = text("""
    INSERT INTO ticket_plan (known, old_type, old_status, ticket_type_id, status, name, email, price_minor, sold_at,
                             order_number, secret, valid_from, valid_until, same)
    SELECT t.id, t.ticket_type_id, t.status, c.ticket_type_id, c.status, c.name, c.email, c.price_minor, c.sold_at,
           c.order_number, c.secret, c.valid_from, c.valid_until, false
      FROM ticket_import_change c JOIN ticket t ON t.id = c.ticket_id AND t.event_id = c.event_id
     WHERE c.import_id = :import_id AND c.event_id = :event
""")
REMOVE_TICKETS = text("""
    DELETE FROM ticket t USING ticket_plan p WHERE t.id = p.known AND t.event_id = :event AND p.status IS NULL
""")
MARK_UNDONE = text("""
    UPDATE ticket_import SET undone_at = now(), undone_by = :undone_by, undo_transaction_id = pg_current_xact_id()
     WHERE id = :import_id AND event_id = :event
""")
