"""From the list that was sent to the crew that will be: who stays, who is new, and which codes they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.crew.codes import hash_of, new_code, qr_of
from app.crew.models import CrewMember
from app.crew.stall import Stall


@dataclass
class Member:
    """One of the crew as it will be; `code` is known only when it is new."""

    id: str
    position: int
    sent: Mapping[str, Any]
    code_hash: str
    code: str | None

    def row(self, own: Stall) -> dict[str, Any]:
        """What the table keeps."""
        return {
            "id": self.id,
            "merchant_id": own.merchant_id,
            "event_id": own.event_id,
            "position": self.position,
            "name": self.sent["name"],
            **{name: self.sent.get(name) or None for name in ("phone", "email", "role")},
            "code_hash": self.code_hash,
            "retired_at": None,
        }

    def shown(self) -> dict[str, Any]:
        """What the answer tells: the code once, and as a picture."""
        told = {name: self.sent.get(name) or None for name in ("name", "phone", "email", "role")}
        if self.code is None:
            return {"id": self.id, **told}
        return {"id": self.id, **told, "shift_code": self.code, "shift_code_qr": qr_of(self.id, self.code)}


def listed(own: Stall, crew: Sequence[Mapping[str, Any]], known: Sequence[CrewMember]) -> list[Member]:
    """The crew in the order sent. One without an id is who has the same address, number or name, else new: so the
    same list twice is the same crew. Raises ValidationFailed.
    """
    by_id = {item.id: item for item in known}
    before = _matched(crew, by_id)
    taken = {item.code_hash for item in known if item.retired_at is None}
    members: list[Member] = []
    problems: list[dict[str, str]] = []
    for position, sent in enumerate(crew):
        old = before[position]
        returns = old is not None and old.retired_at is not None
        member = Member(old.id if old else new_id(), position, sent, old.code_hash if old and not returns else "", None)
        if sent.get("pin"):
            problems += _take_pin(own, member, taken)
        elif old is None or returns or sent.get("rotate_code"):
            member.code = new_code(own.merchant_id, own.event_id, taken)
        if member.code is not None:
            member.code_hash = hash_of(own.merchant_id, own.event_id, member.code)
            taken.add(member.code_hash)
        members.append(member)
    if problems:
        raise ValidationFailed(problems)
    return members


def _matched(crew: Sequence[Mapping[str, Any]], by_id: Mapping[str, CrewMember]) -> list[CrewMember | None]:
    """For each entry, who it is about already. Raises ValidationFailed for ids unknown here or named twice."""
    found: list[CrewMember | None] = [None] * len(crew)
    free = dict(by_id)
    for position, sent in enumerate(crew):
        if sent.get("id"):
            found[position] = free.pop(str(sent["id"]), None)
            if found[position] is None:
                code = "duplicate" if sent["id"] in by_id else "not_found"
                raise ValidationFailed.of(f"crew[{position}].id", code, "Take the id of a member of this crew, once.")
    for trait in ("email", "phone", "name"):
        for position, sent in enumerate(crew):
            if found[position] is None and not sent.get("id") and sent.get(trait):
                found[position] = _same(free, trait, str(sent[trait]))
    return found


def _same(free: dict[str, CrewMember], trait: str, value: str) -> CrewMember | None:
    for id, member in free.items():
        if member.retired_at is None and (getattr(member, trait) or "").casefold() == value.casefold():
            return free.pop(id)
    return None


def _take_pin(own: Stall, member: Member, taken: set[str]) -> list[dict[str, str]]:
    """Makes the pin the member's code; the problem when a colleague has it, even one who gives it up in this list."""
    pin = str(member.sent["pin"])
    hashed = hash_of(own.merchant_id, own.event_id, pin)
    if hashed == member.code_hash:
        return []
    if hashed in taken:
        problem = {"code": "taken", "message": "Somebody at this stall has this code."}
        return [{"path": f"crew[{member.position}].pin", **problem}]
    member.code = pin
    return []
