"""The operations of the mixed load, with their shares, and what each of them leaves to be checked."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from app.core.clock import rfc3339, utcnow
from tests.factories.accounts import PASSWORD
from tests.factories.campaigns import CampaignEvent
from tests.factories.inventory import HEADER
from tests.faults.suite.initial_data import Merchant, Person, World
from tests.faults.suite.request_log import OK, UNKNOWN, Journal, Mouth, Request, RequestRecord
from tests.settings import BOOTSTRAP_SECRET

ROWS = 40
Operation = Callable[["Caller"], RequestRecord | None]
SHARES: dict[str, int] = {}
OPERATIONS: dict[str, Operation] = {}


class Caller:
    """One client of the load: its own connection, its own dice. What it asks stands in the journal."""

    def __init__(self, world: World, mouth: Mouth, journal: Journal, seed: str) -> None:
        self.world, self.mouth, self.journal, self.dice = world, mouth, journal, random.Random(seed)

    def key(self) -> str:
        return str(UUID(int=self.dice.getrandbits(128)))

    def get(self, kind: str, path: str, token: str = "") -> RequestRecord:
        headers = {"Authorization": token} if token else {}
        return self.say(RequestRecord(kind, Request("GET", path, headers=headers)))

    def post(
        self, kind: str, path: str, body: Any = None, *, token: str = "", key: str = "", **about: Any
    ) -> RequestRecord:
        headers = ({"Authorization": token} if token else {}) | ({"Idempotency-Key": key} if key else {})
        return self.say(RequestRecord(kind, Request("POST", path, body, headers), {"key": key, **about}))

    def say(self, asked: RequestRecord) -> RequestRecord:
        self.journal.note(self.mouth.say(asked))
        return asked


def operation(share: int) -> Callable[[Operation], Operation]:
    """Adds an operation to the load; of a hundred, about so many."""

    def register(call: Operation) -> Operation:
        OPERATIONS[call.__name__], SHARES[call.__name__] = call, share
        return call

    return register


@operation(22)
def discover(it: Caller) -> RequestRecord:
    query = it.dice.choice(("", "?q=windhoek", "?city=Windhoek", "?sort=startsAt&limit=5"))
    return it.get("discover", f"/api/events/public/discover{query}")


@operation(16)
def public_event(it: Caller) -> RequestRecord:
    return it.get("public_event", f"/api/events/public/{it.world.event_id}")


@operation(8)
def tickets(it: Caller) -> RequestRecord:
    return it.get("tickets", f"/api/events/public/{it.world.event_id}/ticket-inventory")


@operation(6)
def stock(it: Caller) -> RequestRecord:
    return it.get("stock", it.world.stock_path, it.world.owner)


@operation(2)
def sign_in(it: Caller) -> RequestRecord:
    person = it.dice.choice(it.world.people)
    return it.post("sign_in", "/api/auth/login", {"email": person.email, "password": PASSWORD}, email=person.email)


@operation(6)
def refresh(it: Caller) -> RequestRecord | None:
    person = it.dice.choice(it.world.people)
    if not person.lock.acquire(blocking=False):
        return None
    try:
        return refreshed(it, person)
    finally:
        person.lock.release()


def refreshed(it: Caller, person: Person) -> RequestRecord:
    """A step of a session. A lost answer is asked for again at once, as a client does, and then they sign in anew."""
    given = person.refresh_token
    asked = it.post("refresh", "/api/auth/refresh", {"refreshToken": given}, email=person.email, given=given)
    if asked.outcome == UNKNOWN:
        it.mouth.again(asked)
    if asked.outcome == OK:
        person.refresh_token = asked.data["refreshToken"]
    elif asked.outcome != UNKNOWN:
        anew = it.post("sign_in", "/api/auth/login", {"email": person.email, "password": PASSWORD})
        person.refresh_token = anew.data.get("refreshToken", given)
    return asked


@operation(2)
def register(it: Caller) -> RequestRecord:
    """Somebody new; now and then they write their address otherwise, or is there already."""
    number = it.dice.randrange(10_000)
    email = it.dice.choice((f"new{number}@example.com", f"New{number}@Example.com", f"twin{number % 5}@example.com"))
    body = {"email": email, "password": PASSWORD, "firstName": "Ndapewa", "lastName": "Shikongo"}
    return it.post("register", "/api/auth/register/customer", body, key=it.key(), email=email.lower())


@operation(1)
def guess(it: Caller) -> RequestRecord:
    email = it.dice.choice(it.world.burned)
    return it.post("guess", "/api/auth/verify-email", {"email": email, "code": WRONG}, email=email)


@operation(9)
def claim(it: Caller) -> RequestRecord | None:
    try:
        code = it.world.codes.popleft()
    except IndexError:
        return None
    email = f"guest.{code.lower()}@example.com"
    delivery = it.dice.choice(("will_call", "will_call", "will_call", "e_ticket"))
    body = {"name": f"Guest {code}", "email": email, "delivery": delivery}
    asked = it.post("claim", f"/api/allocations/claim/{code}", body, key=it.key(), email=email, delivery=delivery)
    if asked.outcome == OK:
        it.world.claimed.append(asked.data["slotId"])
    return asked


@operation(8)
def admit(it: Caller) -> RequestRecord | None:
    """A scan; every third slot is scanned by two gates."""
    try:
        slot = it.world.claimed.popleft()
    except IndexError:
        return None
    if it.dice.random() < 0.3:
        it.world.claimed.append(slot)
    nonce = it.key()
    path = f"/api/events/{it.world.event_id}/allocations/will-call/{slot}/admit"
    return it.post("admit", path, {"nonce": nonce, "gate": "B"}, token=it.world.owner, slot=slot, nonce=nonce)


@operation(12)
def adjust(it: Caller) -> RequestRecord:
    scarce = it.dice.random() < 0.1
    item = it.dice.choice(it.world.scarce if scarce else it.world.items)
    delta, key = it.dice.choice((-3, -2, -1, 1, 2)), it.key()
    body = {"delta": delta, "reason": "correction", "reference": key}
    path = f"{it.world.stock_path}/items/{item}/adjust"
    return it.post("adjust", path, body, token=it.world.owner, key=key, item=item, delta=delta)


@operation(5)
def payout(it: Caller) -> RequestRecord:
    return _payout(it, it.dice.choice(it.world.merchants))


@operation(1)
def scheduled_payout(it: Caller) -> RequestRecord:
    """One for tomorrow, which is called off at once."""
    from_whom = it.dice.choice(it.world.merchants[:-1])
    asked = _payout(it, from_whom, mode="schedule", scheduledFor=rfc3339(utcnow() + timedelta(days=1)))
    if asked.outcome == OK:
        path = f"/api/merchants/me/payout-requests/{asked.data['id']}/cancel"
        it.post("cancel", path, token=from_whom.token, payout=asked.data["id"])
    return asked


def _payout(it: Caller, who: Merchant, **fields: Any) -> RequestRecord:
    key, amount = it.key(), it.dice.randint(100, 900)
    body = {"amountMinor": amount, "destination": "payrail", "mode": "now", "idempotencyKey": key, **fields}
    body["password"] = PASSWORD
    about = {"merchant": who.id, "amount": amount}
    return it.post("payout", "/api/merchants/me/payout-requests", body, token=who.token, key=key, **about)


@operation(1)
def import_sheet(it: Caller) -> RequestRecord:
    return sheet(it, ROWS)


def sheet(it: Caller, rows: int) -> RequestRecord:
    """New items, all with one prefix of their own; a large one is done by a worker."""
    prefix = f"I{it.dice.getrandbits(40):x}"
    lines = [HEADER, *(f"{prefix}-{number},Item {prefix} {number},1,1,0,5,0,0" for number in range(rows))]
    key = it.key()
    headers = {"Authorization": it.world.owner, "Idempotency-Key": key}
    request = Request("POST", f"{it.world.stock_path}/import", None, headers, "\n".join(lines).encode(), "text/csv")
    return it.say(RequestRecord("import", request, {"key": key, "prefix": prefix, "rows": rows}))


def campaign(it: Caller) -> RequestRecord:
    """One message to the whole audience; not part of the shares, for a run has only a few."""
    body = CampaignEvent.body(None, name=f"Gates {it.dice.getrandbits(32):x}")  # type: ignore[arg-type]
    path = f"{it.world.crowd_path}/broadcast"
    return it.post("campaign", path, body, token=it.world.owner, key=it.key())


def bootstrap(it: Caller) -> RequestRecord:
    """The first admin, who may be made once."""
    body = {
        "email": f"admin{it.dice.getrandbits(32):x}@example.com",
        "password": PASSWORD,
        "firstName": "Selma",
        "lastName": "Haufiku",
        "title": "Operations",
        "bootstrapSecret": BOOTSTRAP_SECRET,
    }
    return it.post("bootstrap", "/api/auth/register/admin", body)


WRONG = "000000"
