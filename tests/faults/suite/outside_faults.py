"""F9 to F12: the mail server and the rail refuse, hang, disconnect, repeat responses and contradict themselves."""

import time
from itertools import pairwise

from sqlalchemy import text

from app.core.db import db
from mock_rail import Fault as Does
from tests.faults.suite.evidence_files import journal_of_rail
from tests.faults.suite.initial_data import MANNERS
from tests.faults.suite.plan import fault
from tests.faults.suite.scenario import Scene
from tests.faults.suite.stall_fee_load import paying

BEFORE = 4.0
TRIES = """
    SELECT a.outbox_id, extract(epoch FROM a.started) AS at FROM outbox_attempt a JOIN outbox o ON o.id = a.outbox_id
     WHERE o.class IN ('A', 'B') AND a.outcome = 'retry' ORDER BY a.outbox_id, a.n"""
BY_MANNER = """
    SELECT split_part(r.person, '.', 1) AS manner, o.state, o.attempts,
           (SELECT coalesce(max(extract(epoch FROM a.ended - a.started)), 0) FROM outbox_attempt a
             WHERE a.outbox_id = o.id) AS held
      FROM campaign_recipient r JOIN outbox o ON o.dedupe_key = 'campaign-' || r.id
     WHERE split_part(r.person, '.', 1) = ANY(:manners)"""
FAILED = "SELECT id FROM payout WHERE status = 'failed'"


@fault("F9")
def mail_refused(scene: Scene) -> None:
    """the mail server refuses connections"""
    calm = time.monotonic()
    time.sleep(BEFORE)
    gone = time.monotonic()
    scene.stack.sink.kill()
    scene.killed["stack"] += 1
    scene.load.send_campaign()
    time.sleep(scene.long)
    back = time.monotonic()
    scene.stack.sink.start()
    scene.note("p99 added ms", max(0.0, scene.p99(gone, back) - scene.p99(calm, gone)))
    scene.note("tries without a pause", sum(pause < 7 for pause in pauses()))


def pauses() -> list[float]:
    """Seconds between one failed try of a mail and the next."""
    with db.engine.connect() as connection:
        rows = list(connection.execute(text(TRIES)))
    return [float(b.at - a.at) for a, b in pairwise(rows) if a.outbox_id == b.outbox_id]


@fault("F10")
def mail_is_odd(scene: Scene) -> None:
    """the mail server answers after 30 s, hangs up after the final dot, says 4xx first, says 5xx for ever"""
    scene.load.send_campaign()
    scene.uncertain_allowed += ODD
    with paying(scene):
        time.sleep(scene.seconds)
    scene.seconds_until(lambda: all(state in ENDED for _, state, _, _ in by_manner()), 200)
    rows = by_manner()
    scene.note("refused for ever, tries", max(row.attempts for row in rows if row.manner == "never"))
    scene.note("mail held s", max(float(row.held) for row in rows))
    scene.note("dropped, not uncertain", sum(row.state != "uncertain" for row in rows if row.manner == "drop"))
    scene.notes += sorted({f"{row.manner}: {row.state} after {row.attempts}" for row in rows})


ENDED = ("done", "dead", "uncertain")
ODD = 12
"""Three people whose server drops the line and three whose answers late, in two campaigns."""


def by_manner() -> list[tuple[str, str, int, float]]:
    with db.engine.connect() as connection:
        return list(connection.execute(text(BY_MANNER), {"manners": list(MANNERS)}))  # type: ignore[arg-type]


@fault("F11")
def rail_hangs(scene: Scene) -> None:
    """the rail commits and says nothing, says 500, answers after 30 s, takes fees late, and is not there"""
    faults, spell = scene.stack.rail.faults, scene.seconds / 4
    with paying(scene):
        for does in ("hang", "fail", "late"):
            seconds = 30 if does == "late" else 20
            late = Does(do="capture_late", on="confirm", times=1, seconds=spell)
            lost = Does(do="drop", on="confirm", times=1)
            # A payer who waits for the whole call pays nothing else meanwhile.
            on = [Does(do=does, on="send", seconds=seconds), Does(do=does, on="confirm", seconds=spell / 2)]
            faults.set([late, lost, *on])
            time.sleep(spell)
        faults.set([])
        scene.stack.rail.refuse(spell)
        time.sleep(spell)
    with db.engine.connect() as connection:
        scene.note("failed while unknown", len(connection.execute(text(FAILED)).all()))


@fault("F12")
def rail_lies(scene: Scene) -> None:
    """callbacks lost, ten times over, a day late, in another order, contradictory and forged; settled after eight s"""
    rail = scene.stack.rail
    settles = Does(do="accept", seconds=8)
    spells = [
        Does(do="lose"),
        Does(do="duplicate", times_each=10),
        Does(do="contradict"),
        Does(do="forge"),
        Does(do="delay", seconds=86_400),
        Does(do="hold"),
    ]
    late = Does(do="capture_late", on="confirm", times=1, seconds=scene.seconds / 4)
    with paying(scene):
        for does in spells:
            rail.faults.set([settles, late, Does(do="drop", on="confirm", times=1), does])
            time.sleep(scene.seconds / len(spells))
        rail.faults.set([settles])
    # A day goes by at the rail: what was late comes now, and what was held comes in another order.
    rail.clock.ahead += 90_000
    rail.callbacks.flush(scene.seed)
    scene.seconds_until(lambda: rail.callbacks.waiting == 0, 30)
    calls = [line for line in journal_of_rail(scene.stack) if line["event"] == "callback"]
    scene.notes.append(f"{len(calls)} callbacks, {sum(line['forged'] for line in calls)} of them forged")
    scene.note("forged ones heard", sum(line["forged"] and line["status"] != 401 for line in calls))


def differences_with_rail(scene: Scene) -> int:
    """Payouts that stand here otherwise than the rail has them."""
    truth = {line["reference"]: line["state"] for line in journal_of_rail(scene.stack) if line["event"] == "transfer"}
    with db.engine.connect() as connection:
        rows = connection.execute(text("SELECT id, status FROM payout WHERE status IN ('paid', 'failed')")).all()
    return sum(truth.get(row.id) != row.status for row in rows)
