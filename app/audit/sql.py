"""SQL text of the audit trail."""

COLUMNS = """action, subject_kind, actor_kind, actor_id, session_id, network, request_id,
               organisation_id, event_id, account_id, subject_id, data"""
INSERT_ENTRIES = f"""
    INSERT INTO audit_entry ({COLUMNS})
    SELECT %(action)s, %(subject_kind)s, %(actor_kind)s, %(actor_id)s, %(session_id)s, %(network)s, %(request_id)s,
           coalesce(%(organisation_id)s, (SELECT organiser_id FROM event WHERE id = %(event_id)s)), %(event_id)s,
           %(account_id)s, subject.id, %(data)s::jsonb
      FROM unnest(%(subjects)s::text[]) AS subject (id)
    RETURNING id"""
"""The organisation of an event is its organiser. An act that deletes the event names the organisation."""


def insert_entries_sql(
    rows: str,
    *,
    organisation_id: str = "NULL",
    event_id: str = "NULL",
    account_id: str = "NULL",
    subject: str = "NULL",
    data: str = "'{}'",
) -> str:
    """Return SQL that adds one entry for each row of `rows`, with the parameters of `log.entry_params`.

    `rows` is what follows FROM; the other arguments are SQL expressions over it.
    """
    return f"""
        INSERT INTO audit_entry ({COLUMNS})
        SELECT :audit_action, :audit_subject_kind, :audit_actor_kind, :audit_actor_id, :audit_session_id,
               :audit_network, :audit_request_id, {organisation_id}, {event_id}, {account_id}, {subject}, {data}
          FROM {rows}"""
