"""The forms of a ticket type and of a phase."""

from app.blueprints.pages.desk.event_form import END_MESSAGE
from app.blueprints.pages.desk.form_parts import VERSION, WRONG_NUMBER, WRONG_PRICE, VersionSchema
from app.blueprints.pages.forms import Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.languages import lazy_gettext
from app.web.fields import EndTimeField, Text, TimeField, WholeNumber
from app.web.text_fields import Name

MAX_TICKETS = 10_000_000


class TypeSchema(VersionSchema):
    name = Name(required=True, min=1, max=120)
    description = Text(max=1000)
    price_minor = Amount(data_key="price", required=True)
    quantity = WholeNumber(required=True, min=0, max=MAX_TICKETS)
    min_per_order = WholeNumber(min=1, max=10_000)
    max_per_order = WholeNumber(min=1, max=10_000)
    valid_from = TimeField()
    valid_until = EndTimeField()


class PhaseSchema(VersionSchema):
    name = Name(required=True, min=1, max=120)
    price_minor = Amount(data_key="price", required=True)
    starts_at = TimeField()
    ends_at = EndTimeField()
    quantity = WholeNumber(min=1, max=MAX_TICKETS)


PRICE = Input(
    "price",
    lazy_gettext("Price in N$"),
    hint=lazy_gettext("With VAT, if you are registered for it."),
    inputmode="decimal",
    messages=WRONG_PRICE,
)
ORDER_HINT = lazy_gettext("For programs that read the event. Set the limit in your shop too: we do not check it.")
TYPE = Form(
    TypeSchema,
    Input(
        "name",
        lazy_gettext("Name"),
        hint=lazy_gettext("For example: Weekend pass."),
        messages={
            "required": lazy_gettext("Enter a name."),
            "duplicate": lazy_gettext("The event has a ticket type with this name."),
        },
    ),
    Input("description", lazy_gettext("Description"), type="textarea"),
    PRICE,
    Input(
        "quantity",
        lazy_gettext("How many there are"),
        inputmode="numeric",
        messages={"required": lazy_gettext("Enter how many there are."), "invalid_type": WRONG_NUMBER},
        error_codes=("TICKETS_COMMITTED",),
    ),
    Input(
        "minPerOrder",
        lazy_gettext("Fewest in one order"),
        hint=ORDER_HINT,
        inputmode="numeric",
        messages={"invalid_type": WRONG_NUMBER},
    ),
    Input(
        "maxPerOrder",
        lazy_gettext("Most in one order"),
        hint=ORDER_HINT,
        inputmode="numeric",
        messages={
            "invalid_type": WRONG_NUMBER,
            "contradiction": lazy_gettext("Enter at least the fewest in one order."),
        },
    ),
    Input("validFrom", lazy_gettext("The gate admits from"), type="datetime-local"),
    Input(
        "validUntil",
        lazy_gettext("The gate admits until"),
        type="datetime-local",
        messages={"contradiction": END_MESSAGE},
    ),
    VERSION,
)
PHASE = Form(
    PhaseSchema,
    Input(
        "name",
        lazy_gettext("Name"),
        hint=lazy_gettext("For example: Early bird."),
        messages={"required": lazy_gettext("Enter a name.")},
    ),
    PRICE,
    Input("startsAt", lazy_gettext("From"), hint=lazy_gettext("Empty: from the beginning."), type="datetime-local"),
    Input(
        "endsAt",
        lazy_gettext("Until"),
        hint=lazy_gettext("Empty: until the sale ends, or its tickets are sold."),
        type="datetime-local",
        messages={"contradiction": END_MESSAGE},
    ),
    Input(
        "quantity",
        lazy_gettext("For how many tickets"),
        hint=lazy_gettext(
            "Empty: the price is for all tickets, so give the phase an end. With a number, what is left unsold goes to the "
            "next phase."
        ),
        inputmode="numeric",
        messages={"invalid_type": WRONG_NUMBER},
    ),
    VERSION,
)
