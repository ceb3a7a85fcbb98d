"""Request schemas of allocations, and the schemas of ticket packs."""

from typing import Any

from marshmallow import ValidationError, post_load, validates_schema

from app.allocations.actions.guest_lists import MAX_HANDED_OUT
from app.allocations.actions.invites import INVITATION, SENDS
from app.allocations.states import BLOCK_KINDS, BLOCK_STATES, DELIVERIES, E_TICKET, SLOT_STATES, WILL_CALL
from app.web.fields import (
    Boolean,
    Choice,
    Email,
    EndTimeField,
    Id,
    List,
    Nested,
    Phone,
    Secret,
    Text,
    TimeField,
    WholeNumber,
    field_error,
)
from app.web.scans import MAX_PARTY_SIZE
from app.web.schema import Query, RequiredFieldsSchema, Schema, to_camel_case
from app.web.text_fields import EmailName, Name

MAX_SLOTS, MAX_RECIPIENTS = 5000, 500
MAX_PRICE_MINOR = 10**12
MAX_RELEASE_STEPS = 20
PERSON_METADATA = {"example": "Frieda Amupolo"}


class Holder(Schema):
    name = Name(max=200, allow_none=True, metadata=PERSON_METADATA)
    email = Email(allow_none=True)
    phone = Phone(allow_none=True)
    organisation = Name(max=200, allow_none=True, metadata={"example": "Kalahari Coffee"})


class QuoteBody(RequiredFieldsSchema):
    required_names = ("ticket_type_id", "quantity")

    ticket_type_id = Id()
    quantity = WholeNumber(min=1, max=MAX_SLOTS, metadata={"example": 10})
    name = Name(max=120, allow_none=True, metadata={"example": "Gold sponsor"})
    kind = Choice(*BLOCK_KINDS, load_default="group")
    holder = Nested(Holder, allow_none=True)
    unit_price_minor = WholeNumber(
        min=0,
        max=MAX_PRICE_MINOR,
        allow_none=True,
        metadata={"example": 85000, "description": "by default the present price; 0 is complimentary"},
    )
    promo_code = Text(max=40, allow_none=True, metadata={"rare": True, "example": "EARLYBIRD"})
    release_at = EndTimeField(
        allow_none=True,
        metadata={"rare": True, "description": "when unclaimed places are released; in the event's time zone"},
    )
    notes = Text(max=2000, allow_none=True)
    guests_may_pass_on = Boolean(
        metadata={"rare": True, "description": "by default yes, but not for the kinds `press` and `staff`"}
    )
    guests_may_give_back = Boolean(load_default=True, metadata={"rare": True})


class ReleaseStep(Schema):
    """A step of a release plan: a number of places, or per cent of those that are unused then."""

    on = TimeField(
        required=True,
        metadata={"description": "a date means the beginning of that day; in the event's time zone"},
    )
    quantity = WholeNumber(min=1, max=MAX_SLOTS, allow_none=True, metadata={"example": 10})
    percent = WholeNumber(min=1, max=100, allow_none=True, metadata={"description": "of the unused places, rounded up"})

    @validates_schema
    def check_amount(self, data: dict[str, Any], **_: Any) -> None:
        if (data.get("quantity") is None) == (data.get("percent") is None):
            raise field_error("contradiction", "Give either quantity or percent.")


def _build_release_plan_field() -> List:
    return List(
        Nested(ReleaseStep),
        max=MAX_RELEASE_STEPS,
        allow_none=True,
        metadata={"rare": True, "description": "when unused places are released before `releaseAt`, and how many"},
    )


class BlockBody(QuoteBody):
    """A new block."""

    release_plan = _build_release_plan_field()


class BlockChanges(Schema):
    """The fields to change; those that are left out stay."""

    name = Name(max=120, allow_none=True, metadata={"example": "Gold sponsor"})
    kind = Choice(*BLOCK_KINDS)
    holder = Nested(Holder, allow_none=True)
    unit_price_minor = WholeNumber(
        min=0, max=MAX_PRICE_MINOR, metadata={"example": 85000, "description": "while there is no invoice"}
    )
    release_at = EndTimeField(allow_none=True, metadata={"description": "in the event's time zone"})
    release_plan = _build_release_plan_field()
    notes = Text(max=2000, allow_none=True)
    quantity = WholeNumber(
        min=1,
        max=MAX_SLOTS,
        metadata={
            "example": 10,
            "description": "by as many as it rises or falls, places come from the public or return",
        },
    )
    guests_may_pass_on = Boolean()
    guests_may_give_back = Boolean()


class NewBlock(Schema):
    """A block that is split off; what is left out of kind, price and release time is that of the first block."""

    name = Name(max=120, allow_none=True, metadata={"example": "Silver sponsor"})
    kind = Choice(*BLOCK_KINDS)
    holder = Nested(Holder, allow_none=True)
    unit_price_minor = WholeNumber(min=0, max=MAX_PRICE_MINOR, allow_none=True, metadata={"example": 85000})
    release_at = EndTimeField(allow_none=True, metadata={"description": "in the event's time zone"})
    release_plan = _build_release_plan_field()
    notes = Text(max=2000, allow_none=True)


class PassOnBody(RequiredFieldsSchema):
    required_names = ("name", "email")

    name = EmailName(min=1, max=200, metadata=PERSON_METADATA)
    email = Email()


class BlockFilters(Query):
    status = Choice(*BLOCK_STATES)
    kind = Choice(*BLOCK_KINDS)
    ticket_type_id = Id()


class SlotPage(Query):
    limit = WholeNumber(min=1, max=100, load_default=20, metadata={"description": "slots on a page"})
    cursor = Secret(max=2000, metadata={"description": "`nextCursor` of the page before"})
    with_total = Boolean(load_default=False, metadata={"description": "count all slots as well"})


class SlotFilters(SlotPage):
    status = Choice(*SLOT_STATES)
    q = Text(max=200, metadata={"description": "a part of the name or of the address of a guest"})


class CodesBody(Schema):
    count = WholeNumber(
        min=1, max=MAX_SLOTS, allow_none=True, metadata={"example": 10, "description": "by default all"}
    )


class Recipient(Schema):
    name = EmailName(required=True, min=1, max=200, metadata=PERSON_METADATA)
    email = Email(allow_none=True, metadata={"description": "not needed with the delivery `will_call`"})
    phone = Phone(allow_none=True)
    delivery = Choice(
        E_TICKET,
        WILL_CALL,
        load_default=E_TICKET,
        metadata={"rare": True, "description": "`will_call` puts the guest on the list at the gate, without a mail"},
    )
    quantity = WholeNumber(
        min=1,
        max=MAX_PARTY_SIZE,
        load_default=1,
        metadata={"rare": True, "description": "places for a party; only with the delivery `will_call`"},
    )

    @validates_schema(skip_on_field_errors=True)
    def check_delivery(self, data: dict[str, Any], **_: Any) -> None:
        """A recipient who gets a mail needs an email address, and gets one place."""
        if data["delivery"] == WILL_CALL:
            return
        problems = {}
        if not data.get("email"):
            problems["email"] = field_error("required", "This field is required.").messages
        if data["quantity"] > 1:
            problems["quantity"] = field_error("too_large", "A party needs the delivery will_call.").messages
        if problems:
            raise ValidationError(problems)


class InviteBody(Schema):
    recipients = List(Nested(Recipient), min=1, max=MAX_RECIPIENTS)
    name = EmailName(min=1, max=200, metadata={**PERSON_METADATA, "rare": True})
    email = Email(metadata={"rare": True})
    phone = Phone(allow_none=True, metadata={"rare": True})
    allow_duplicates = Boolean(load_default=False, metadata={"rare": True})
    dry_run = Boolean(load_default=False, metadata={"rare": True})
    sends = Choice(
        *SENDS,
        load_default=INVITATION,
        metadata={
            "rare": True,
            "description": "what guests with an address get: an `invitation` to accept, or their `ticket` at once",
        },
    )

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_recipients(self, data: dict[str, object], original: object, **_: object) -> None:
        field_names = set(original) if isinstance(original, dict) else set()
        if "recipients" in field_names:
            conflicting = sorted(field_names & {"name", "email", "phone"})
            if conflicting:
                message = "Give recipients, or one name and email."
                raise ValidationError({name: field_error("contradiction", message).messages for name in conflicting})
            return
        missing = [name for name in ("name", "email") if name not in field_names]
        if len(missing) == 2:
            raise ValidationError({"recipients": field_error("required", "Name the people to invite.").messages})
        if missing:
            raise ValidationError(
                {name: field_error("required", "This field is required.").messages for name in missing}
            )

    @post_load
    def build_recipients(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        recipient = {name: data.pop(name) for name in ("name", "email", "phone") if name in data}
        return {**data, "recipients": data.get("recipients") or [recipient]}


class LinkBody(Schema):
    rotate = Boolean(
        load_default=False, metadata={"rare": True, "description": "a new link; the old one then returns 410"}
    )
    revoke = Boolean(load_default=False, metadata={"rare": True, "description": "ends the link"})

    @validates_schema
    def check_rotate_or_revoke(self, data: dict[str, object], **_: object) -> None:
        if data.get("rotate") and data.get("revoke"):
            raise field_error("contradiction", "Give rotate or revoke, not both.")


class AllocatorLinkBody(LinkBody):
    mail = Boolean(
        load_default=None,
        metadata={
            "rare": True,
            "description": "whether the holder gets the link by mail; by default only if the link is new",
        },
    )


class OpenLinkBody(LinkBody):
    max_claims = WholeNumber(min=1, max=MAX_SLOTS, allow_none=True, metadata={"description": "places in all"})
    max_per_claim = WholeNumber(
        min=1, max=MAX_PARTY_SIZE, allow_none=True, metadata={"description": "places for one (1)"}
    )
    expires_at = EndTimeField(allow_none=True, metadata={"rare": True})


class RemindBody(Schema):
    slot_ids = List(Id(), min=1, max=MAX_RECIPIENTS, metadata={"rare": True, "description": "by default all"})


class ReleaseBody(Schema):
    quantity = WholeNumber(min=1, max=MAX_SLOTS, allow_none=True, metadata={"description": "by default all"})
    dry_run = Boolean(load_default=False)


class RevokeBody(Schema):
    return_to = Choice("block", "public", load_default="block")


class MoveBody(Schema):
    """Places to move, to `toBlockId` or to a `newBlock`: a `quantity` of free ones, or those of `slotIds`."""

    to_block_id = Id()
    new_block = Nested(NewBlock, metadata={"rare": True, "description": "instead of `toBlockId`"})
    quantity = WholeNumber(min=1, max=MAX_SLOTS, metadata={"example": 5, "description": "number of free places"})
    slot_ids = List(
        Id(),
        min=1,
        max=MAX_SLOTS,
        metadata={"rare": True, "description": "instead of `quantity`; free, invited or claimed places"},
    )

    @validates_schema
    def check_choices(self, data: dict[str, Any], **_: Any) -> None:
        errors = {}
        for name, other in (("to_block_id", "new_block"), ("quantity", "slot_ids")):
            if (name in data) == (other in data):
                code = "contradiction" if name in data else "required"
                sentence = f"Give either {to_camel_case(name)} or {to_camel_case(other)}."
                errors[to_camel_case(name)] = field_error(code, sentence).messages
        if errors:
            raise ValidationError(errors)


class ClaimBody(RequiredFieldsSchema):
    required_names = ("name", "email")

    name = EmailName(min=1, max=200, metadata=PERSON_METADATA)
    email = Email()
    phone = Phone(allow_none=True)
    delivery = Choice(*DELIVERIES, load_default=E_TICKET)
    quantity = WholeNumber(
        min=1,
        max=MAX_PARTY_SIZE,
        load_default=1,
        metadata={"rare": True, "description": "more than 1 only for an open link"},
    )


class AllocatorBody(Schema):
    """Hands out a place with `name` and `email`; with `slotId`, renames its guest or takes it back."""

    name = EmailName(min=1, max=200, metadata=PERSON_METADATA)
    email = Email()
    phone = Phone(allow_none=True)
    delivery = Choice(*DELIVERIES)
    quantity = WholeNumber(min=1, max=MAX_PARTY_SIZE, load_default=1, metadata={"rare": True})
    allow_duplicates = Boolean(load_default=False, metadata={"rare": True})
    slot_id = Id(metadata={"rare": True})
    action = Choice("hand_out", "rename", "take_back", metadata={"rare": True})

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_required_fields(self, data: dict[str, Any], original: Any, **_: Any) -> None:
        field_names = set(original) if isinstance(original, dict) else set()
        action = data.get("action") or ("rename" if "slotId" in field_names else "hand_out")
        required = {"hand_out": {"name", "email"}}.get(action, {"slotId"})
        missing = sorted(required - field_names)
        if missing:
            raise ValidationError(
                {name: field_error("required", "This field is required.").messages for name in missing}
            )

    @post_load
    def set_default_action(self, data: dict[str, object], **_: object) -> dict[str, Any]:
        return {**data, "action": data.get("action") or ("rename" if data.get("slot_id") else "hand_out")}


class GuestListBody(Schema):
    """Guests to whom the holder of a block hands out places: all of them or nobody."""

    recipients = List(Nested(Recipient), required=True, min=1, max=MAX_HANDED_OUT)
    allow_duplicates = Boolean(load_default=False, metadata={"rare": True})
    dry_run = Boolean(load_default=False, metadata={"rare": True})


class WillCallQuery(SlotPage):
    q = Text(max=200, metadata={"description": "beginnings of words of the name, email address or code"})
    status = Choice("claimed", "admitted")
    block_id = Id()


class AdmitBody(Schema):
    nonce = Secret(max=80, allow_none=True, metadata={"example": "scan-7f3a", "description": "of this scan"})
    gate = Text(max=80, allow_none=True, metadata={"example": "North gate"})
    occurred_at = TimeField(
        allow_none=True,
        metadata={"rare": True, "description": "up to 72 hours ago, from a scanner without a network"},
    )
    count = WholeNumber(
        min=1, max=MAX_PARTY_SIZE, allow_none=True, metadata={"rare": True, "description": "of the party"}
    )

    @validates_schema
    def check_nonce(self, data: dict[str, Any], **_: Any) -> None:
        if not (data.get("nonce") or "").isprintable():
            raise ValidationError({"nonce": field_error("invalid_characters", "Must be printable.").messages})
