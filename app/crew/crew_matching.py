"""From the list that was sent to the crew that will be: who stays, who is new, and which codes they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.errors import ValidationFailed
from app.core.ids import new_id
from app.crew.models import CrewMember
from app.crew.shift_codes import draw_code_qr, generate_code, hash_code
from app.crew.stall_access import Stall


@dataclass
class CrewChange:
    """One of the crew as it will be; `code` is known only when it is new."""

    id: str
    position: int
    entry: Mapping[str, Any]
    code_hash: str
    code: str | None

    def to_row(self, stall: Stall) -> dict[str, Any]:
        """What the table keeps."""
        return {
            "id": self.id,
            "merchant_id": stall.merchant_id,
            "event_id": stall.event_id,
            "position": self.position,
            "name": self.entry["name"],
            **{field: self.entry.get(field) or None for field in ("phone", "email", "role")},
            "code_hash": self.code_hash,
            "retired_at": None,
        }

    def to_dict(self) -> dict[str, Any]:
        """What the answer tells: the code once, and as a picture."""
        fields = {field: self.entry.get(field) or None for field in ("name", "phone", "email", "role")}
        if self.code is None:
            return {"id": self.id, **fields}
        return {"id": self.id, **fields, "shift_code": self.code, "shift_code_qr": draw_code_qr(self.id, self.code)}


def match_crew(
    stall: Stall, entries: Sequence[Mapping[str, Any]], existing_members: Sequence[CrewMember]
) -> list[CrewChange]:
    """The crew in the order sent. One without an id is who has the same address, number or name, else new: so the
    same list twice is the same crew. Raises ValidationFailed.
    """
    member_by_id = {existing_member.id: existing_member for existing_member in existing_members}
    matches = _match_entries(entries, member_by_id)
    taken_hashes = {
        existing_member.code_hash for existing_member in existing_members if existing_member.retired_at is None
    }
    changes: list[CrewChange] = []
    problems: list[dict[str, str]] = []
    for position, entry in enumerate(entries):
        matched_member = matches[position]
        is_returning = matched_member is not None and matched_member.retired_at is not None
        change = CrewChange(
            matched_member.id if matched_member else new_id(),
            position,
            entry,
            matched_member.code_hash if matched_member and not is_returning else "",
            None,
        )
        if entry.get("pin"):
            problems += _assign_pin(stall, change, taken_hashes)
        elif matched_member is None or is_returning or entry.get("rotate_code"):
            change.code = generate_code(stall.merchant_id, stall.event_id, taken_hashes)
        if change.code is not None:
            change.code_hash = hash_code(stall.merchant_id, stall.event_id, change.code)
            taken_hashes.add(change.code_hash)
        changes.append(change)
    if problems:
        raise ValidationFailed(problems)
    return changes


def _match_entries(
    entries: Sequence[Mapping[str, Any]], member_by_id: Mapping[str, CrewMember]
) -> list[CrewMember | None]:
    """For each entry, who it is about already. Raises ValidationFailed for ids unknown here or named twice."""
    matches: list[CrewMember | None] = [None] * len(entries)
    unmatched_members = dict(member_by_id)
    for position, entry in enumerate(entries):
        if entry.get("id"):
            matches[position] = unmatched_members.pop(str(entry["id"]), None)
            if matches[position] is None:
                code = "duplicate" if entry["id"] in member_by_id else "not_found"
                raise ValidationFailed.of(f"crew[{position}].id", code, "Take the id of a member of this crew, once.")
    for field in ("email", "phone", "name"):
        for position, entry in enumerate(entries):
            if matches[position] is None and not entry.get("id") and entry.get(field):
                matches[position] = _pop_matching_member(unmatched_members, field, str(entry[field]))
    return matches


def _pop_matching_member(unmatched_members: dict[str, CrewMember], field: str, value: str) -> CrewMember | None:
    for id, member in unmatched_members.items():
        if member.retired_at is None and (getattr(member, field) or "").casefold() == value.casefold():
            return unmatched_members.pop(id)
    return None


def _assign_pin(stall: Stall, change: CrewChange, taken_hashes: set[str]) -> list[dict[str, str]]:
    """Makes the pin the member's code; the problem when a colleague has it, even one who gives it up in this list."""
    pin = str(change.entry["pin"])
    code_hash = hash_code(stall.merchant_id, stall.event_id, pin)
    if code_hash == change.code_hash:
        return []
    if code_hash in taken_hashes:
        problem = {"code": "taken", "message": "Somebody at this stall has this code."}
        return [{"path": f"crew[{change.position}].pin", **problem}]
    change.code = pin
    return []
