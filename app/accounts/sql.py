"""SQL text of accounts and sessions. Driver statements take `%s`, statements of the session `:name`."""

from sqlalchemy import text

from app.audit.sql import insert_entries_sql

_PERSONS = """
    SELECT a.id, s.id AS session_id, a.email, a.name, a.phone, a.email_verified_at IS NOT NULL, a.roles, a.admin_tier,
           a.admin_title, a.version, 'person',
           (SELECT json_agg(json_build_array(m.team_id, m.kind, m.role, m.event_ids,
                                             m.kind = 'organiser' AND coalesce(o.requires_second_factor, false))
                            ORDER BY m.created_at, m.id)
              FROM team_member m LEFT JOIN organiser_profile o ON o.account_id = m.team_id
             WHERE m.account_id = a.id),
           a.language, a.second_factor_since IS NOT NULL
      FROM account_session s JOIN account a ON a.id = s.account_id
     WHERE s.ended_at IS NULL AND s.idle_until > now() AND s.ends_at > now()"""

OWNER_ID = """coalesce((SELECT m.account_id FROM team_member m WHERE m.team_id = {organisation}
                            AND m.kind = 'organiser' AND m.role = 'owner'), {organisation})"""
"""The account of an organisation's present owner, as `owner_id_sql`."""

# Devices and keys of the organisation `a` work unless its owner `o` is suspended.
_OWNER_JOIN = f"JOIN account o ON o.id = {OWNER_ID.format(organisation='a.id')}"
_IS_WORKING = "a.retired_at IS NULL AND o.suspended_at IS NULL"

_DEVICES = f"""
    SELECT a.id, d.id AS session_id, o.email, d.name, NULL, o.email_verified_at IS NOT NULL, ARRAY[]::varchar[], NULL,
           NULL, a.version, 'device',
           json_build_array(json_build_array(e.organiser_id, 'device', d.kind, json_build_array(e.id))), NULL, false
      FROM device d JOIN event e ON e.id = d.event_id JOIN account a ON a.id = e.organiser_id
           {_OWNER_JOIN}
     WHERE d.ended_at IS NULL AND d.paired_at IS NOT NULL AND e.ends_at > now() - interval '48 hours'
       AND {_IS_WORKING}"""

_KEYS = f"""
    SELECT a.id, k.id AS session_id, o.email, k.name, NULL, o.email_verified_at IS NOT NULL, ARRAY[]::varchar[], NULL,
           NULL, a.version, 'key',
           json_build_array(json_build_array(k.organisation_id, 'key', array_to_string(k.scopes, ' '), NULL)), NULL, false
      FROM api_key k JOIN account a ON a.id = k.organisation_id {_OWNER_JOIN}
     WHERE k.ended_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AND {_IS_WORKING}"""

# Whether the account may see the devices or keys of the organisation `a`.
_SEES = """(a.id = :account_id AND 'organiser' = ANY(a.roles) OR EXISTS (
        SELECT FROM team_member m WHERE m.team_id = a.id AND m.kind = 'organiser' AND m.account_id = :account_id
           AND m.role = ANY(:{roles}) AND (m.event_ids IS NULL OR {event} = ANY(m.event_ids))))"""

WORKING_ACCESS_SQL = text(f"""
    SELECT EXISTS ({_DEVICES} AND {_SEES.format(roles="device_roles", event="d.event_id")}),
           EXISTS ({_KEYS} AND {_SEES.format(roles="key_roles", event="NULL")})
""")

CALLER_SQL = f"{_PERSONS} AND s.id = %s AND s.kind = 'api'"

# The use of a page is recorded every five minutes, in the statement that loads its caller.
PAGE_CALLER_SQL = f"""
    WITH used AS (
        UPDATE account_session SET last_seen_at = now(), idle_until = least(now() + %(idle_lifetime)s, ends_at)
         WHERE id = %(id)s AND kind = 'console' AND ended_at IS NULL AND idle_until > now()
           AND coalesce(last_seen_at, created_at) <= now() - %(interval)s)
    {_PERSONS} AND s.id = %(id)s AND s.kind = 'console'"""

CALLERS_SQL = f"""{_PERSONS} AND s.id = ANY(%(ids)s)
    UNION ALL {_DEVICES} AND d.id = ANY(%(ids)s)
    UNION ALL {_KEYS} AND k.id = ANY(%(ids)s)"""

# A use is recorded once a minute, in the statement that checks the token.
DEVICE_SQL = f"""
    WITH seen AS (
        UPDATE device SET last_seen_at = now()
         WHERE token_hash = %(hash)s AND ended_at IS NULL AND last_seen_at < now() - interval '1 minute')
    {_DEVICES} AND d.token_hash = %(hash)s"""

KEY_SQL = f"""
    WITH used AS (
        UPDATE api_key SET last_used_at = now()
         WHERE key_hash = %(hash)s AND ended_at IS NULL
           AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute'))
    {_KEYS} AND k.key_hash = %(hash)s"""

OWN_PASSWORD_SQL = """
    SELECT a.password_hash, a.password_version, t.hits,
           CAST(greatest(1, ceil(extract(epoch FROM t.ends_at - now()))) AS integer)
      FROM account a LEFT JOIN throttle t ON t.key = %s AND t.ends_at > now()
     WHERE a.id = %s
"""

RECENT_SIGN_IN_SQL = """
    SELECT a.password_version, a.password_hash IS NOT NULL,
           s.created_at > now() - %s::interval AND NOT EXISTS (
               SELECT FROM external_identity i WHERE i.account_id = a.id
                  AND i.linked_at > a.created_at AND i.linked_at > now() - %s::interval)
      FROM account a JOIN account_session s ON s.account_id = a.id
     WHERE a.id = %s AND s.id = %s
"""

CREATE_SESSION_SQL = text(f"""
    WITH owner AS (
        SELECT id FROM account
         WHERE id = :account_id AND password_version = :password_version AND retired_at IS NULL
           AND suspended_at IS NULL AND (second_factor_since IS NULL OR :second_factor_passed) FOR SHARE
    ), surplus AS (
        UPDATE account_session SET ended_at = now(), end_reason = 'too_many' WHERE id IN (
            SELECT id FROM account_session WHERE account_id = :account_id AND ended_at IS NULL
             ORDER BY created_at DESC, id DESC OFFSET :others)
    ), new_session AS (
        INSERT INTO account_session (id, account_id, counter, kind, device, network, idle_until, ends_at)
        SELECT :id, id, 0, :kind, :device, :network, now() + :idle_lifetime, now() + :lifetime FROM owner
        RETURNING id, account_id, kind
    ), entry AS (
        {
    insert_entries_sql(
        "new_session",
        account_id="account_id",
        subject="id",
        data="jsonb_build_object('kind', kind)",
    )
}
    )
    SELECT id FROM new_session
""")

CREATE_CHALLENGE_SQL = text("""
    INSERT INTO sign_in_challenge (token_hash, account_id, password_version, tries, expires_at)
    SELECT :token_hash, id, password_version, 0, now() + :lifetime FROM account
     WHERE id = :account_id AND password_version = :password_version AND retired_at IS NULL
       AND suspended_at IS NULL FOR SHARE
    RETURNING account_id
""")

ADVANCE_REFRESH_COUNTER_SQL = text("""
    UPDATE account_session s
       SET counter = s.counter + 1, rotated_at = now(), last_seen_at = now(),
           idle_until = least(now() + :idle_lifetime, s.ends_at)
      FROM account a
     WHERE s.id = :session_id AND s.counter = :counter AND s.kind = 'api' AND s.ended_at IS NULL AND s.idle_until > now()
       AND s.ends_at > now() AND a.id = s.account_id
    RETURNING a.id, a.name, a.email, a.phone, a.roles, a.admin_tier
""")

RETIRE_ACCOUNT_SQL = text("""
    WITH ended_sessions AS (
        UPDATE account_session
           SET ended_at = coalesce(ended_at, now()), end_reason = coalesce(end_reason, 'address_reassigned'),
               device = NULL, network = NULL
         WHERE account_id = :id
    ), unlinked_identities AS (
        DELETE FROM external_identity WHERE account_id = :id
    ), deleted_organiser_profile AS (
        DELETE FROM organiser_profile WHERE account_id = :id
    ), deleted_merchant_profile AS (
        DELETE FROM merchant_profile WHERE account_id = :id
    ), voided_codes AS (
        UPDATE one_time_code SET used = true WHERE purpose = :purpose AND email = :email
    )
    UPDATE account
       SET email = id || '@retired.invalid', name = 'Retired account', phone = NULL, roles = '{}',
           admin_tier = NULL, admin_title = NULL, password_hash = NULL, password_version = password_version + 1,
           version = version + 1, retired_at = now(), updated_at = now()
     WHERE id = :id
""")

ERASE_ACCOUNT_SQL = text("""
    WITH deleted_sessions AS (
        DELETE FROM account_session WHERE account_id = :id
    ), unlinked_identities AS (
        DELETE FROM external_identity WHERE account_id = :id
    ), deleted_profile AS (
        DELETE FROM organiser_profile WHERE account_id = :id
    ), deleted_tokens AS (
        DELETE FROM reset_token WHERE account_id = :id
    ), deleted_second_factor AS (
        DELETE FROM second_factor WHERE account_id = :id
    ), deleted_recovery_codes AS (
        DELETE FROM recovery_code WHERE account_id = :id
    ), deleted_challenges AS (
        DELETE FROM sign_in_challenge WHERE account_id = :id
    ), deleted_address_changes AS (
        DELETE FROM address_change WHERE account_id = :id
    ), deleted_codes AS (
        DELETE FROM one_time_code WHERE email = :email
    )
    UPDATE account
       SET email = :erased_email, email_verified_at = NULL, name = :erased_name, phone = NULL, roles = '{}',
           admin_tier = NULL, admin_title = NULL, password_hash = NULL, password_version = password_version + 1,
           second_factor_since = NULL, language = NULL, deletion_due_at = NULL, version = version + 1,
           updated_at = now()
     WHERE id = :id
""")

COUNT_USE_SQL = text("""
    INSERT INTO unverified_use AS u (account_id, quota, used) SELECT :account_id, :quota, :count WHERE :count <= :limit
    ON CONFLICT (account_id, quota) DO UPDATE SET used = u.used + :count WHERE u.used + :count <= :limit
    RETURNING used
""")
