"""What `flask ledger verify` checks of the gate: the tallies and the admitted places agree with the log of admissions."""

from app.gate import integrity_sql
from app.ledger.commands import register_check

register_check(
    "the figures of the gate are those of the log, without what was undone", integrity_sql.TALLIES_UNLIKE_THE_LOG
)
register_check(
    "every admitted place has one first entry in the log, and no other place has one",
    integrity_sql.PLACES_UNLIKE_THE_LOG,
)
