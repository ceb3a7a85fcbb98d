"""Demo scans: most guests of an event have entered, two phones without a network admitted the same guest, and some scans
were refused.

An event that has scans of these phones is skipped, so seeding twice changes nothing.
"""

import random
from datetime import datetime, timedelta

from sqlalchemy import select

from app.accounts.caller import Caller
from app.admissions.models import Admission
from app.allocations.errors import AlreadyAdmitted
from app.core.clock import utcnow
from app.core.db import db
from app.events.models import Event, Ticket
from app.gate.batch import OfflineScan, record_batch
from app.gate.errors import TicketNotFound
from app.gate.refused_scans import log_refused_batch

GATES = ("Main gate", "Main gate", "River gate")
LAST_HOURS = timedelta(hours=5)
NONCE_START = "demo-scan-"
OTHER_CODE = "SHOP-40817"


def seed(caller: Caller, event_id: str, *, share: float, is_running: bool = False) -> int:
    """Scan this share of an event's imported tickets; return how many scans were recorded.

    They are around the start of the event, or in the last hours if it runs.
    """
    is_demo_scan = (Admission.event_id == event_id, Admission.nonce.startswith(NONCE_START))
    if db.session.scalar(select(Admission.id).where(*is_demo_scan).limit(1)):
        return 0
    starts_at = db.session.scalars(select(Event.starts_at).where(Event.id == event_id)).one()
    if is_running:
        starts_at = max(starts_at, utcnow() - LAST_HOURS)
    tickets = db.session.scalars(
        select(Ticket.id).where(Ticket.event_id == event_id, Ticket.status == "sold").order_by(Ticket.reference)
    ).all()
    generator = random.Random(2026)
    scans = [
        OfflineScan(f"{NONCE_START}{number}", _choose_time(generator, starts_at), None, id, generator.choice(GATES))
        for number, id in enumerate(generator.sample(tickets, int(len(tickets) * share)))
    ]
    if not scans:
        return 0
    again = scans[0]._replace(
        nonce=f"{NONCE_START}again", occurred_at=scans[0].occurred_at + timedelta(minutes=6), gate="River gate"
    )
    recorded = len(record_batch(caller, event_id, sorted([*scans, again], key=lambda scan: scan.occurred_at)))
    refused = [
        scan._replace(nonce=f"{scan.nonce}-again", occurred_at=scan.occurred_at + timedelta(minutes=5))
        for scan in scans[1:4]
    ]
    other = OfflineScan(f"{NONCE_START}other", utcnow(), OTHER_CODE, gate=GATES[0])
    log_refused_batch(
        caller, event_id, [*((scan, AlreadyAdmitted.code) for scan in refused), (other, TicketNotFound.code)]
    )
    return recorded


def _choose_time(generator: random.Random, starts_at: datetime) -> datetime:
    minutes = generator.triangular(-60, 240, 20)
    return min(starts_at + timedelta(minutes=minutes), utcnow() - timedelta(minutes=7))
