"""Rules of the gate: G1 to G5."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.allocations import law as allocation_laws
from tests.faults.suite.evidence import Evidence, law
from tests.faults.suite.request_log import FAIL

LOG = """
    SELECT nonce, min(event_id) AS event_id, min(scan_id) AS scan_id, count(*) AS people, count(conflict) AS conflicts,
           count(undone_at) AS undone
      FROM admission WHERE nonce IS NOT NULL GROUP BY nonce"""
HIDDEN = """
    SELECT place_id, count(*) FILTER (WHERE direction = 'in' AND previous = 'in') AS surplus,
           count(conflict) FILTER (WHERE direction = 'in') AS conflicts
      FROM (SELECT a.*, lag(a.direction) OVER (PARTITION BY a.place_id, a.entry_day ORDER BY a.occurred_at, a.id) AS previous
              FROM admission a JOIN event e ON e.id = a.event_id
             WHERE a.undone_at IS NULL AND a.place_id IS NOT NULL AND e.reentry <> 'free') steps
     GROUP BY place_id
    HAVING count(*) FILTER (WHERE direction = 'in' AND previous = 'in') > count(conflict) FILTER (WHERE direction = 'in')"""
"""Places with entries that followed an entry, and fewer conflicts."""
OTHER_THAN_LOGGED = """
    SELECT p.id, p.admitted_at FROM (
        SELECT id, event_id, admitted_at FROM allocation_slot UNION ALL SELECT id, event_id, admitted_at FROM ticket) p
     WHERE (p.admitted_at IS NOT NULL)::integer <>
           (SELECT count(*) FROM admission a
             WHERE a.event_id = p.event_id AND a.place_id = p.id AND a.direction = 'in' AND a.undone_at IS NULL
               AND NOT a.is_reentry)
        OR p.admitted_at <>
           (SELECT min(a.occurred_at) FROM admission a
             WHERE a.event_id = p.event_id AND a.place_id = p.id AND a.direction = 'in' AND a.undone_at IS NULL
               AND coalesce(a.conflict, '') NOT IN ('WRONG_DAY', 'NOT_CLAIMED'))"""
ENDED = """
    SELECT a.place_id FROM admission a JOIN allocation_slot s ON s.id = a.place_id AND s.event_id = a.event_id
     WHERE s.ended_at IS NOT NULL AND a.direction = 'in' AND a.conflict IS NULL AND a.undone_at IS NULL"""


@law("G1 entries")
def entries(found: Evidence) -> Iterator[str]:
    """Each place is admitted as often as it may be, or the surplus is a conflict; places say what the log says."""
    for row in found.rows(HIDDEN):
        yield f"place {row.place_id} was admitted {row.surplus} times too often, {row.conflicts} are conflicts"
    for row in found.rows(OTHER_THAN_LOGGED):
        yield f"place {row.id} says {row.admitted_at}, and the log says otherwise"
    log = logged_nonces(found)
    nonces = {(code, nonce) for code, nonce in _admitted_once(found) if nonce in log and _counts(log[nonce])}
    for code, number in Counter(code for code, _ in nonces).items():
        if number > 1:
            yield f"{number} scans of {code[:4]}… were told that they are admitted"


@law("G2 scans")
def scans(found: Evidence) -> Iterator[str]:
    """Each accepted scan is in the log once, with all of its people; a refused one is not; no other one is."""
    log = logged_nonces(found)
    sent = {scan["nonce"] for asked in found.journal.of("batch") for scan in asked.about["scans"]}
    for asked in found.journal.of("scan"):
        nonce, people = asked.about["nonce"], asked.about.get("count", 1)
        if asked.outcome == FAIL and nonce in log and nonce not in sent:
            yield f"scan {nonce} was refused, and is in the log"
        for told in asked.told:
            yield from _lost(log, nonce, people, told["admissionId"])
    for asked in found.journal.of("batch"):
        if asked.outcome == FAIL:
            yield f"a batch was refused: {asked.about.get('refused')}"
        for told in asked.told:
            yield from _lost_of_batch(found, log, asked.about["scans"], told["results"])
    undone = {row.scan_id: row.undone for row in log.values()}
    for asked in found.said_yes("undo"):
        if not undone.get(asked.about["scan_id"]):
            yield f"scan {asked.about['scan_id']} was undone, and stands in the log"
    events = {asked.about["event"] for asked in found.journal.of("scan", "batch")}
    known = sent | {asked.about["nonce"] for asked in found.journal.of("scan")}
    for nonce, row in log.items():
        if row.event_id in events and nonce not in known:
            yield f"nobody scanned {nonce}, which is in the log"


@law("G3 tallies")
def tallies(found: Evidence) -> Iterator[str]:
    """The tallies of types and gates agree with the log."""
    yield from (f"the tallies of type {row[0]} differ from the log" for row in found.rows(str(allocation_laws.TALLIES)))


@law("G4 withdrawn places")
def withdrawn_places(found: Evidence) -> Iterator[str]:
    """Nobody enters with a place after its revocation or cancellation, unless it is a conflict."""
    yield from (f"place {row.place_id} ended, and was admitted" for row in found.rows(ENDED))
    ended_at = {
        asked.about["code"]: asked.at + asked.seconds
        for asked in found.said_yes("withdraw")
        if 200 <= asked.status < 300
    }
    log, first_sent_at = logged_nonces(found), _first_sent_at(found)
    for (code, nonce), sent_at in first_sent_at.items():
        if code in ended_at and sent_at > ended_at[code] and nonce in log and _counts(log[nonce]):
            yield f"{code[:4]}… ended {sent_at - ended_at[code]:.3f} s before scan {nonce}, which was admitted"


@law("G5 lists")
def lists(found: Evidence) -> Iterator[str]:
    """The list of a device that followed all changes is the list that it would load now."""
    yield from found.gate_lists


def logged_nonces(found: Evidence) -> dict[str, Any]:
    """Return what the log has for each nonce."""
    return {row.nonce: row for row in found.rows(LOG)}


def _counts(row: Any) -> bool:
    """Whether a scan admitted people by the rules, and was not undone."""
    return bool(row.people > row.conflicts and not row.undone)


def _admitted_once(found: Evidence) -> Iterator[tuple[str, str]]:
    """The codes and nonces of entries that were told admitted, not of parties, where nobody may enter again."""
    for asked in found.said_yes("scan"):
        if asked.about["reentry"] == "none" and "count" not in asked.about:
            yield asked.about["code"], asked.about["nonce"]
    for asked in found.said_yes("batch"):
        codes = {scan["nonce"]: scan["code"] for scan in asked.about["scans"] if "count" not in scan}
        for result in (result for told in asked.told for result in told["results"]):
            if asked.about["reentry"] == "none" and result["code"] is None and result["nonce"] in codes:
                yield codes[result["nonce"]], result["nonce"]


def _lost(log: dict[str, Any], nonce: str, people: int, scan_id: str) -> Iterator[str]:
    row = log.get(nonce)
    if row is None or row.people != people or row.scan_id != scan_id:
        logged = row and f"{row.people} of {people} people, as {row.scan_id}"
        yield f"scan {nonce} was accepted as {scan_id}; in the log: {logged}"


def _lost_of_batch(found: Evidence, log: dict[str, Any], scans: list[Any], results: list[Any]) -> Iterator[str]:
    if len(results) != len(scans):
        yield f"{len(results)} results for a batch of {len(scans)}"
    for scan, result in zip(scans, results, strict=False):
        if result["status"] == "refused":
            if not (found.is_database_clock_wrong and result["code"] == "VALIDATION_FAILED"):
                yield f"scan {scan['nonce']} was refused as {result['code']}"
        else:
            yield from _lost(log, scan["nonce"], scan.get("count", 1), result["admissionId"])


def _first_sent_at(found: Evidence) -> dict[tuple[str, str], float]:
    sent: dict[tuple[str, str], float] = {}
    for asked in found.journal.of("scan", "batch"):
        for scan in asked.about.get("scans", (asked.about,)):
            key = (scan["code"], scan["nonce"])
            sent[key] = min(asked.at, sent.get(key, asked.at))
    return sent
