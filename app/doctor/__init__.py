"""`flask doctor`: what is wrong with this installation, what that means, and what to do.

    findings.py   one line of the answer
    settings.py   the environment, secrets, the public address
    stores.py     PostgreSQL, its schema and clock, a replica, Redis
    pooling.py    PgBouncer, where DATABASE_URL is one
    work.py       the relay, the workers, and what waits or has ended badly
    outside.py    mail, SMS, push, the payment rail, storage, who watches
    machine.py    the disk and the folders
    asking.py     all of it, in order
    commands.py   `flask doctor`; `python -m app.doctor` is the same, and works with wrong settings as well

Nothing is changed, and nobody gets a message. One file of a few bytes is written to the storage, and removed.
"""
