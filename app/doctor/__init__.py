"""`flask doctor` checks an installation and says what is wrong, what that means, and what to do.

    results.py           one line of the output
    settings_checks.py   the environment, secrets, the public URL
    database_checks.py   PostgreSQL, its schema and clock, a replica, Redis
    pooler_checks.py     PgBouncer, where DATABASE_URL is one
    worker_checks.py     the relay, the workers, and jobs that wait or failed
    external_checks.py   mail, SMS, push, the payment rail, storage, monitoring
    host_checks.py       the disk and the folders
    commands.py          `flask doctor`; `python -m app.doctor` does the same and also works with wrong settings

It changes nothing and sends no message. It writes one file of a few bytes to the storage and removes it.
"""
