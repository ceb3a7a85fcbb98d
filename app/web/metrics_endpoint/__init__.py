"""What nobody counts and is looked up when `/metrics` is read: at most every five seconds, in two short statements.

work.py      rows of work, heartbeats, payouts: from the database
around.py    Redis, the rail's breaker, the disk
scraped.py   all of it together, with what the processes have counted, as text
gate.py      who may read it
"""
