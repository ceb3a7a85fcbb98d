-- What each connection would ask for itself, as the database's own: a pooler in transaction mode does not hand it on.
-- Run it once by the owner of the database: psql -f deploy/pgbouncer/account.sql event_commerce
-- Migrations and exports set their own limits; pg_dump has none.
DO $$
DECLARE
    setting text;
BEGIN
    FOREACH setting IN ARRAY ARRAY[
        'statement_timeout = ''10s''', 'lock_timeout = ''3s''', 'idle_in_transaction_session_timeout = ''15s''',
        'timezone = ''UTC'''
    ] LOOP
        EXECUTE format('ALTER DATABASE %I SET %s', current_database(), setting);
    END LOOP;
END
$$;
