"""Load of stall fees: applicants start and confirm payments, change wallets and withdraw, and their event ends."""

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from mock_rail import CODE
from tests.factories.applications import LIST, create_application, decide_application
from tests.factories.events import create_published_event
from tests.faults.suite.request_log import Journal, Mouth, Request, RequestRecord
from tests.http import Client, data
from tests.leaks.ledger import RUN

if TYPE_CHECKING:
    from tests.faults.suite.initial_data import Merchant
    from tests.faults.suite.scenario import Scene

PAYERS, BETWEEN = 12, 0.15
EVENT_OVER = "UPDATE event SET starts_at = now() - interval '2 h', ends_at = now() - interval '1 s' WHERE id = :event"
EXPIRE_NOW = "UPDATE tick SET due = now() WHERE name = 'applications.expire'"
ASK_NOW = "UPDATE outbox SET run_at = now() WHERE kind = 'applications.settle_payment' AND state = 'ready'"
CODE_LIFE = 400.0


@dataclass(frozen=True)
class Stall:
    """An approved application: its id, its event, where its fee is paid, and its merchant's token."""

    id: str
    event_id: str
    path: str
    token: str


def stalls_of(client: Client, owner: Client, merchants: "Sequence[Merchant]", count: int) -> list[Stall]:
    """So many approved applications of these merchants, for two events: one of them will end."""
    if not count:
        return []
    events = [create_published_event(owner, name=f"Market {number}")["id"] for number in range(2)]
    return [_stall(client, owner, merchants[n % len(merchants)].token, events[n % 2]) for n in range(count)]


def _stall(client: Client, owner: Client, token: str, event_id: str) -> Stall:
    made = create_application(client.with_(Authorization=token), eventId=event_id, email="stall@example.com")
    decide_application(owner, made, documentsRequired=[])
    url = data(owner.post(f"{LIST}/{made['id']}/links", {"purpose": "payment"}), 201)["url"]
    secret = url.rpartition("/")[2]
    RUN.add(secret)
    return Stall(made["id"], event_id, f"{LIST}/pay/{secret}", token)


class Payers:
    """A few clients that pay fees for as long as the block lasts. A `paid` that they are told stands in the journal."""

    def __init__(self, port: int, stalls: Sequence[Stall], journal: Journal, seed: int) -> None:
        self.port, self.stalls, self.journal, self.seed = port, deque(stalls), journal, seed
        self.said: Counter[str] = Counter()
        self._over = threading.Event()

    @contextmanager
    def going(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._go, args=(number,), daemon=True) for number in range(PAYERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join(60)

    def _go(self, number: int) -> None:
        dice, mouth = random.Random(f"{self.seed}:payer{number}"), Mouth(self.port, f"127.0.9.{number + 1}")
        while not self._over.wait(BETWEEN):
            try:
                stall = self.stalls.popleft()
            except IndexError:
                break
            if not self._paid(mouth, stall, dice):
                self.stalls.append(stall)
        mouth.close()

    def _paid(self, mouth: Mouth, stall: Stall, dice: random.Random) -> bool:
        """One go at a fee; True when it was told that it is paid."""
        if dice.random() < 0.05:
            self._say(mouth, Request("POST", f"{LIST}/{stall.id}/withdraw", headers={"Authorization": stall.token}))
        wallet = f"+26481{dice.randrange(10**7):07}"
        other = {"payrailMsisdn": wallet if wallet[-4:-1] != "000" else "+264811234567"}
        self._say(mouth, Request("POST", stall.path, other if dice.random() < 0.5 else {}))
        code = CODE if dice.random() < 0.8 else "000000"
        asked = self._say(mouth, Request("POST", f"{stall.path}/payrail/verify-otp", {"code": code}))
        if asked.data.get("status") != "paid":
            return False
        asked.about["application"] = stall.id
        self.journal.note(asked)
        return True

    def _say(self, mouth: Mouth, request: Request) -> RequestRecord:
        asked = mouth.say(RequestRecord("stall_fee", request))
        self.said[asked.about.get("refused") or asked.data.get("status") or str(asked.status)] += 1
        return asked


@contextmanager
def paying(scene: "Scene") -> Iterator[None]:
    """Fees are paid during the block, the events of half of them end in its middle, and then all codes expire."""
    payers = Payers(scene.stack.site.secure, scene.world.stalls, scene.load.journal, scene.seed)
    ending = threading.Timer(scene.seconds / 2, _end_an_event, (scene,))
    with payers.going():
        ending.start()
        yield
    ending.join()
    scene.stack.rail.faults.set([])
    scene.stack.rail.clock.ahead += CODE_LIFE
    time.sleep(1)
    with transaction() as session:
        session.execute(text("DELETE FROM throttle WHERE key LIKE 'pay-codes%'"))
        asked: Any = session.execute(text(ASK_NOW))
    scene.notes.append(f"{len(list(scene.load.journal.of('stall_fee')))} fees told paid, {asked.rowcount} asked about")
    scene.notes.append("fees: " + ", ".join(f"{said} {times}" for said, times in payers.said.most_common(9)))


def _end_an_event(scene: "Scene") -> None:
    with scene.stack.app.app_context():
        with transaction() as session:
            session.execute(text(EVENT_OVER), {"event": scene.world.stalls[0].event_id})
            session.execute(text(EXPIRE_NOW))
        db.session.remove()
