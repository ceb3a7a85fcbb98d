"""Load at the gates of two events: scans online, scans without a network sent later in any order, undone scans."""

import base64
import hashlib
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import text

from app.core.db import db
from tests.factories.allocations import claim_slot
from tests.factories.gate import Gate
from tests.faults.suite.request_log import OK, UNKNOWN, Journal, Mouth, Request, RequestRecord
from tests.http import Client, data
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.faults.suite.initial_data import World

DEVICES, PARTY_SIZE = 3, 3
RATE_SHARE = 0.8
"""What all gates together do in a second, as a share of the rate of the other load."""
CLOCK_ERRORS = (-290, -120, -3, 0, 90, 280)
"""Seconds; the service accepts times up to five minutes ahead."""
TRIES, BETWEEN = 20, 1.0
BOUNDARY = "sheet-of-the-fault-suite"
CODES = """
    SELECT id, block_id, code, party_size > 1 AS in_party FROM allocation_slot
     WHERE event_id = :event AND status = 'claimed' ORDER BY id"""


@dataclass
class GateEvent:
    """An event with gates: the codes of its places, and the tokens of its devices."""

    id: str
    reentry: str
    tickets: dict[str, str]
    """The references of imported tickets by their codes."""
    slots: dict[str, str]
    """The paths of claimed slots by their codes."""
    party_codes: list[str]
    withdrawn: list[str]
    """Codes of tickets that were cancelled, and of slots that were revoked."""
    devices: list[str]

    @property
    def path(self) -> str:
        return f"/api/events/{self.id}/admissions"


def create_gate_events(client: Client, owner: Client, places: int) -> list[GateEvent]:
    """Three events with so many imported tickets each, and slots and parties beside them."""
    return [_create_gate_event(client, owner, places, reentry) for reentry in ("none", "daily", "counted")]


def _create_gate_event(client: Client, owner: Client, places: int, reentry: str) -> GateEvent:
    gate = Gate(client, owner=owner, reentry=reentry, total=4 * places)
    tickets = [gate.sell() for _ in range(places)]
    gate.block.claimed(places // 4)
    token = gate.block.open_link(maxPerClaim=PARTY_SIZE)
    for _ in range(places // 10):
        data(claim_slot(owner, token, quantity=PARTY_SIZE))
    with db.engine.connect() as connection:
        slots = connection.execute(text(CODES), {"event": gate.event_id}).all()
    paths = {slot.code: f"{gate.block.path}/slots/{slot.id}" for slot in slots if not slot.in_party}
    return GateEvent(
        gate.event_id,
        reentry,
        {ticket.secret or "": ticket.reference for ticket in tickets},
        paths,
        [slot.code for slot in slots if slot.in_party],
        [],
        [_pair(client, owner, gate.event_id, number) for number in range(DEVICES)],
    )


def _pair(client: Client, owner: Client, event_id: str, number: int) -> str:
    device = {"kind": "gate", "name": f"Gate {number}"}
    code = data(owner.post(f"/api/events/{event_id}/devices", device), 201)["pairingCode"]
    return f"Bearer {data(client.post('/api/devices/pair', {'code': code}))['deviceToken']}"


class GateDevice:
    """A device: the list that it has loaded, and the scans that it has not sent yet."""

    def __init__(
        self, event: GateEvent, number: int, world: "World", mouth: Mouth, journal: Journal, seed: str
    ) -> None:
        self.event, self.name, self.owner = event, f"Gate {number}", world.owner
        self.mouth, self.journal, self.dice = mouth, journal, random.Random(seed)
        self.headers = {"Authorization": event.devices[number]}
        self.clock_error = timedelta(seconds=self.dice.choice(CLOCK_ERRORS))
        self.is_online, self.may_be_offline = True, number > 0
        self.position, self.salt = "", ""
        self.places: dict[str, list[Any]] = {}
        self.admitted: set[str] = set()
        self.waiting: list[dict[str, Any]] = []
        self.scan_ids: list[str] = []

    def act(self) -> object:
        """Do what the dice say; a device without a network collects scans and asks nothing."""
        if self.may_be_offline and self.dice.random() < 0.15:
            self.is_online = not self.is_online
        if not self.is_online:
            return self.scan_offline()
        if self.waiting and self.dice.random() < 0.5:
            return self.send_waiting()
        return self.dice.choices(
            (self.scan_online, self.undo, self.load_changes, self.withdraw), weights=(75, 8, 12, 5)
        )[0]()

    def scan_online(self) -> None:
        """Scan; without an answer the same scan is sent again at once, or later with those that wait."""
        scan = self._create_scan()
        body = scan if self.dice.random() < 0.2 else {key: scan[key] for key in scan if key != "occurredAt"}
        about = {"event": self.event.id, "reentry": self.event.reentry, **scan}
        asked = self._post("scan", self.event.path, body, about=about)
        if asked.outcome == UNKNOWN and self.dice.random() < 0.5:
            self.mouth.again(asked)
        if asked.outcome == UNKNOWN and self.dice.random() < 0.5:
            self.waiting.append(scan)
        if asked.outcome == OK and scan.get("direction") != "out":
            self.scan_ids.append(asked.data["admissionId"])

    def scan_offline(self) -> None:
        """Decide by the list, as a device does. Now and then somebody lets people in all the same."""
        scan = self._create_scan()
        place = next((item for item in self.places.values() if item[2] == self._hash(scan["code"])), None)
        may_enter = place is not None and place[5] == "c" and scan["code"] not in self.admitted
        if may_enter or "direction" in scan or self.dice.random() < 0.2:
            self.admitted.add(scan["code"])
            self.waiting.append(scan)

    def send_waiting(self) -> None:
        """Send some of what waits in any order; all of it waits on without an answer, and sometimes with one."""
        self.dice.shuffle(self.waiting)
        size = self.dice.randint(1, len(self.waiting))
        if self._send(self.waiting[:size]) and self.dice.random() < 0.8:
            del self.waiting[:size]

    def send_all(self) -> bool:
        """Send all that waits, until there is an answer; whether there was one."""
        for _ in range(TRIES):
            if not self.waiting or self._send(self.waiting):
                self.waiting = []
                return True
            time.sleep(BETWEEN)
        return False

    def _send(self, scans: list[dict[str, Any]]) -> bool:
        about = {"event": self.event.id, "reentry": self.event.reentry, "scans": list(scans)}
        asked = self._post("batch", f"{self.event.path}/batch", {"admissions": list(scans)}, about=about)
        return asked.outcome != UNKNOWN

    def undo(self) -> None:
        if self.scan_ids:
            scan_id = self.scan_ids.pop()
            path = f"{self.event.path}/{scan_id}/undo"
            self._post("undo", path, {"reason": "wrong ticket"}, about={"scan_id": scan_id})

    def load_changes(self) -> bool:
        """Load the list, or what changed since the last time; whether there was an answer."""
        content = self._load(f"?since={self.position}" if self.position else "")
        if content:
            self.position, self.salt = content["position"], content["salt"]
            if content["full"]:
                self.places.clear()
            self.places.update((place[0], place) for place in content["places"])
            for place_id in content["removed"]:
                self.places.pop(place_id, None)
        return bool(content)

    def list_differences(self) -> list[str]:
        """Load the last changes; return what the list says otherwise than a new one."""
        wait_until(self.load_changes)
        places = {place[0]: place for place in self._load()["places"]}
        different = [key for key in places.keys() | self.places.keys() if places.get(key) != self.places.get(key)]
        return [f"{self.name} has {self.places.get(key)} instead of {places.get(key)}" for key in sorted(different)]

    def withdraw(self) -> None:
        """The organiser revokes a slot, or imports that a ticket was cancelled."""
        code = self.dice.choice([*self.event.slots, *self.event.tickets])
        self.event.withdrawn.append(code)
        headers, about = {"Authorization": self.owner}, {"event": self.event.id, "code": code}
        if code in self.event.slots:
            self._post("withdraw", f"{self.event.slots[code]}/revoke", {}, headers, about)
            return
        sheet = f"reference,ticketType,secret,status\n{self.event.tickets[code]},Weekend pass,{code},cancelled\n"
        form = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\n{sheet}\r\n--{BOUNDARY}--'
        path = f"/api/events/{self.event.id}/tickets/import"
        request = Request("POST", path, None, headers, form.encode(), f"multipart/form-data; boundary={BOUNDARY}")
        self.journal.note(self.mouth.say(RequestRecord("withdraw", request, about)))

    def _create_scan(self) -> dict[str, Any]:
        codes: list[str] = self.dice.choices(
            ([*self.event.tickets], [*self.event.slots], self.event.party_codes, self.event.withdrawn or ["nobody's"]),
            weights=(55, 20, 20, 5),
        )[0]
        occurred_at = datetime.now(UTC) + self.clock_error - timedelta(seconds=5)
        scan = {
            "code": self.dice.choice(codes),
            "nonce": str(UUID(int=self.dice.getrandbits(128))),
            "gate": self.name,
            "occurredAt": occurred_at.isoformat(timespec="milliseconds"),
        }
        if scan["code"] in self.event.party_codes:
            return {**scan, "count": self.dice.randint(1, PARTY_SIZE)}
        if self.event.reentry == "counted" and self.dice.random() < 0.3:
            return {**scan, "direction": "out"}
        return scan

    def _hash(self, code: str) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256((self.salt + code).encode()).digest()[:12]).decode()

    def _load(self, query: str = "") -> dict[str, Any]:
        asked = RequestRecord("snapshot", Request("GET", f"{self.event.path}/snapshot{query}", headers=self.headers))
        self.journal.note(self.mouth.say(asked))
        return asked.data

    def _post(
        self,
        kind: str,
        path: str,
        body: dict[str, Any],
        headers: dict[str, str] | None = None,
        about: dict[str, Any] | None = None,
    ) -> RequestRecord:
        asked = RequestRecord(kind, Request("POST", path, body, headers or self.headers), about or {})
        self.journal.note(self.mouth.say(asked))
        return asked


class GateLoad:
    """`with gates.running():` all devices scan until the block ends. Then `finish` sends what waits."""

    def __init__(self, port: int, world: "World", journal: Journal, seed: int, *, rate: float) -> None:
        self.devices = [
            GateDevice(
                event, number, world, Mouth(port, f"127.0.7.{number + 1}"), journal, f"{seed}:{event.id}:{number}"
            )
            for event in world.gate_events
            for number in range(DEVICES)
        ]
        self.journal = journal
        self.pause = len(self.devices) / (RATE_SHARE * rate)
        self._over = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._run, args=(device,), daemon=True) for device in self.devices]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join(60)

    def _run(self, device: GateDevice) -> None:
        device.load_changes()
        while not self._over.wait(device.dice.uniform(0.5, 1.5) * self.pause):
            device.act()

    def finish(self) -> int:
        """Send all that waits; return how many devices got no answer."""
        return sum(not device.send_all() for device in self.devices)

    def summarize(self) -> str:
        """Return how often the gates did what, and what became of scans without a network."""
        kinds = Counter(
            f"{asked.kind} {asked.outcome}" for asked in self.journal.of("scan", "batch", "undo", "withdraw")
        )
        results = Counter(
            result["status"] for asked in self.journal.of("batch") for told in asked.told for result in told["results"]
        )
        return "gates: " + ", ".join(f"{what} {times}" for what, times in sorted((kinds + results).items()))

    def list_differences(self) -> list[str]:
        """Return in what the list of each device differs from a new one."""
        return [difference for device in self.devices for difference in device.list_differences()]
