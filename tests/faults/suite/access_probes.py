"""Probes after a run: replaced, revoked and used credentials must not work."""

from typing import Any

from sqlalchemy import text

from app.accounts import one_time_codes
from app.core.db import db
from app.inventory.actions.imports import MAX_SYNC_ROWS
from tests.factories.accounts import PASSWORD
from tests.faults.suite.initial_data import fresh_token
from tests.faults.suite.operations import WRONG, Caller
from tests.faults.suite.request_log import Request, RequestRecord
from tests.faults.suite.scenario import Scene

NONCES = "SELECT email, nonce FROM one_time_code WHERE email = ANY(:emails)"
FAMILIES = 3


def probe(scene: Scene) -> None:
    """Asks; the laws say what of the answers is wrong."""
    caller = scene.load.caller("probe")
    for person in scene.world.people[:FAMILIES]:
        reuse(caller, person.email)
    burned(caller)
    caller.mouth.close()


def reuse(caller: Caller, email: str) -> None:
    """A grandparent's token is refused, and with it the whole family."""
    signed_in = caller.post("sign_in", "/api/auth/login", {"email": email, "password": PASSWORD})
    first = signed_in.data["refreshToken"]
    second = renewed(caller, email, first, "refresh").data["refreshToken"]
    third = renewed(caller, email, second, "refresh").data["refreshToken"]
    renewed(caller, email, first, "reuse")
    renewed(caller, email, third, "reuse")


def renewed(caller: Caller, email: str, token: str, kind: str) -> RequestRecord:
    return caller.post(kind, "/api/auth/refresh", {"refreshToken": token}, email=email, given=token)


def burned(caller: Caller) -> None:
    """The right code, after so many wrong ones that it is burned."""
    emails = caller.world.burned
    for email in emails:
        for _ in range(6):
            caller.post("guess", "/api/auth/verify-email", {"email": email, "code": WRONG}, email=email)
    with db.engine.connect() as connection:
        nonces = connection.execute(text(NONCES), {"emails": emails}).all()
    for email, nonce in nonces:
        code = one_time_codes.compute_code(one_time_codes.VERIFY_EMAIL, email, nonce)
        caller.post("burned", "/api/auth/verify-email", {"email": email, "code": code}, email=email)


def round_trip(scene: Scene) -> dict[str, Any] | None:
    """What importing the export of the stock again would do; None when that is more than one request's work."""
    caller, path = scene.load.caller("round trip"), scene.world.stock_path
    headers = {"Authorization": fresh_token(scene.world, scene.world.owner_email)}
    exported = caller.mouth.send(Request("GET", f"{path}/export.csv", headers=headers)).body
    if exported.count(b"\n") > MAX_SYNC_ROWS:
        return None
    request = Request("POST", f"{path}/import?dryRun=true", None, headers, exported, "text/csv")
    said = caller.mouth.send(request)
    caller.mouth.close()
    return dict(said.json["data"]) if said.status == 200 else {"status": said.status}
