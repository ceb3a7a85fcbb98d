"""The fault suite: the whole service under load, one thing broken at a time, and every promise checked afterwards.

`make faults` runs it (`python -m tests.faults.suite`); docs/reliability.md tells what it found.
"""
