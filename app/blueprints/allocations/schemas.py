"""What the operations on allocations take."""

from typing import Any

from marshmallow import ValidationError, post_load, validates_schema

from app.allocations.states import BLOCK_STATES, DELIVERIES, E_TICKET, KINDS, SLOT_STATES
from app.web.fields import (
    Choice,
    Email,
    EndMoment,
    Flag,
    Id,
    Items,
    Moment,
    Object,
    Phone,
    Secret,
    Text,
    Whole,
    problem,
)
from app.web.mail_fields import MailName
from app.web.names import Name
from app.web.schema import Needing, Query, Schema

MOST_PLACES, MOST_RECIPIENTS, MOST_PARTY = 5000, 500, 100
MOST_MONEY = 10**12
PERSON = {"example": "Frieda Amupolo"}


class Holder(Schema):
    name = Name(max=200, allow_none=True, metadata=PERSON)
    email = Email(allow_none=True)
    phone = Phone(allow_none=True)
    organisation = Name(max=200, allow_none=True, metadata={"example": "Kalahari Coffee"})


class QuoteBody(Needing):
    needs = ("ticket_type_id", "quantity")

    ticket_type_id = Id()
    quantity = Whole(min=1, max=MOST_PLACES, metadata={"example": 10})
    name = Name(max=120, allow_none=True, metadata={"example": "Gold sponsor"})
    kind = Choice(*KINDS, load_default="group")
    holder = Object(Holder, allow_none=True)
    unit_price_minor = Whole(
        min=0,
        max=MOST_MONEY,
        allow_none=True,
        metadata={"example": 85000, "description": "the present price unless given; 0 is complimentary"},
    )
    promo_code = Text(max=40, allow_none=True, metadata={"rare": True, "example": "EARLYBIRD"})
    release_at = EndMoment(
        allow_none=True, metadata={"rare": True, "description": "unclaimed places go back then; in the event's zone"}
    )
    notes = Text(max=2000, allow_none=True)


class BlockBody(QuoteBody):
    """A new block."""


class BlockFilters(Query):
    status = Choice(*BLOCK_STATES)
    kind = Choice(*KINDS)
    ticket_type_id = Id()


class SlotPage(Query):
    limit = Whole(min=1, max=100, load_default=20, metadata={"description": "slots on a page"})
    cursor = Secret(max=2000, metadata={"description": "`nextCursor` of the page before"})
    with_total = Flag(load_default=False, metadata={"description": "count all slots as well"})


class SlotFilters(SlotPage):
    status = Choice(*SLOT_STATES)


class CodesBody(Schema):
    count = Whole(min=1, max=MOST_PLACES, allow_none=True, metadata={"example": 10, "description": "all, unless given"})


class Recipient(Schema):
    name = MailName(required=True, min=1, max=200, metadata=PERSON)
    email = Email(allow_none=True)
    phone = Phone(allow_none=True)


class InviteBody(Schema):
    recipients = Items(Object(Recipient), min=1, max=MOST_RECIPIENTS)
    name = MailName(min=1, max=200, metadata={**PERSON, "rare": True})
    email = Email(metadata={"rare": True})
    phone = Phone(allow_none=True, metadata={"rare": True})
    allow_duplicates = Flag(load_default=False, metadata={"rare": True})
    dry_run = Flag(load_default=False, metadata={"rare": True})

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def somebody(self, data: dict[str, Any], sent: Any, **_: Any) -> None:
        given = set(sent) if isinstance(sent, dict) else set()
        if "recipients" in given:
            both = sorted(given & {"name", "email", "phone"})
            if both:
                said = "Give recipients, or one name and email."
                raise ValidationError({name: problem("contradiction", said).messages for name in both})
            return
        missing = [name for name in ("name", "email") if name not in given]
        if len(missing) == 2:
            raise ValidationError({"recipients": problem("required", "Say whom to invite.").messages})
        if missing:
            raise ValidationError({name: problem("required", "This field is required.").messages for name in missing})

    @validates_schema(skip_on_field_errors=True)
    def addresses(self, data: dict[str, Any], **_: Any) -> None:
        """An invitation goes out by mail; the address is what it needs."""
        listed = data.get("recipients") or []
        missing = {
            index: {"email": problem("required", "This field is required.").messages}
            for index, each in enumerate(listed)
            if not each.get("email")
        }
        if missing:
            raise ValidationError({"recipients": missing})

    @post_load
    def listed(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        one = {name: data.pop(name) for name in ("name", "email", "phone") if name in data}
        return {**data, "recipients": data.get("recipients") or [one]}


class LinkBody(Schema):
    rotate = Flag(load_default=False, metadata={"rare": True, "description": "a new link; the old one answers 410"})
    revoke = Flag(load_default=False, metadata={"rare": True, "description": "ends the link"})

    @validates_schema
    def one_of_two(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("rotate") and data.get("revoke"):
            raise problem("contradiction", "Give rotate or revoke, not both.")


class OpenLinkBody(LinkBody):
    max_claims = Whole(min=1, max=MOST_PLACES, allow_none=True, metadata={"description": "places in all"})
    max_per_claim = Whole(min=1, max=MOST_PARTY, allow_none=True, metadata={"description": "places for one (1)"})
    expires_at = EndMoment(allow_none=True, metadata={"rare": True})


class RemindBody(Schema):
    slot_ids = Items(Id(), min=1, max=MOST_RECIPIENTS, metadata={"rare": True, "description": "all, unless given"})


class ReleaseBody(Schema):
    quantity = Whole(min=1, max=MOST_PLACES, allow_none=True, metadata={"description": "all, unless given"})
    dry_run = Flag(load_default=False)


class RevokeBody(Schema):
    return_to = Choice("block", "public", load_default="block")


class MoveBody(Needing):
    needs = ("to_block_id", "quantity")

    to_block_id = Id()
    quantity = Whole(min=1, max=MOST_PLACES, metadata={"example": 5})


class ClaimBody(Needing):
    needs = ("name", "email")

    name = MailName(min=1, max=200, metadata=PERSON)
    email = Email()
    phone = Phone(allow_none=True)
    delivery = Choice(*DELIVERIES, load_default=E_TICKET)
    quantity = Whole(
        min=1, max=MOST_PARTY, load_default=1, metadata={"rare": True, "description": "as many as an open link gives"}
    )


class AllocatorBody(Schema):
    """Hands out with `name` and `email`; with `slotId`, renames or takes back what was handed out."""

    name = MailName(min=1, max=200, metadata=PERSON)
    email = Email()
    phone = Phone(allow_none=True)
    delivery = Choice(*DELIVERIES)
    quantity = Whole(min=1, max=MOST_PARTY, load_default=1, metadata={"rare": True})
    allow_duplicates = Flag(load_default=False, metadata={"rare": True})
    slot_id = Id(metadata={"rare": True})
    action = Choice("hand_out", "rename", "take_back", metadata={"rare": True})

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def complete(self, data: dict[str, Any], sent: Any, **_: Any) -> None:
        given = set(sent) if isinstance(sent, dict) else set()
        action = data.get("action") or ("rename" if "slotId" in given else "hand_out")
        needed = {"hand_out": {"name", "email"}}.get(action, {"slotId"})
        missing = sorted(needed - given)
        if missing:
            raise ValidationError({name: problem("required", "This field is required.").messages for name in missing})

    @post_load
    def decided(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**data, "action": data.get("action") or ("rename" if data.get("slot_id") else "hand_out")}


class WillCallQuery(SlotPage):
    q = Text(max=200, metadata={"description": "beginnings of words of name, e-mail address or code"})
    status = Choice("claimed", "admitted")
    block_id = Id()


class AdmitBody(Schema):
    nonce = Secret(max=80, allow_none=True, metadata={"example": "scan-7f3a", "description": "of this scan"})
    gate = Text(max=80, allow_none=True, metadata={"example": "North gate"})
    occurred_at = Moment(
        allow_none=True,
        metadata={"rare": True, "description": "up to 72 hours ago, from a scanner without a network"},
    )
    count = Whole(min=1, max=MOST_PARTY, allow_none=True, metadata={"rare": True, "description": "of the party"})

    @validates_schema
    def readable(self, data: dict[str, Any], **_: Any) -> None:
        if not (data.get("nonce") or "").isprintable():
            raise ValidationError({"nonce": problem("invalid_characters", "Must be printable.").messages})
