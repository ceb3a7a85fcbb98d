"""The reminder of a stock: whom it mails about low and expiring items, and when."""

from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.event_form import VERSION
from app.blueprints.pages.desk.shell import go_to, render_confirmation, render_desk_form
from app.blueprints.pages.desk.stock import REMIND, blueprint
from app.blueprints.pages.desk.ticket_types import VersionSchema
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import AppError
from app.events import queries as events
from app.inventory import actions, reminders
from app.inventory.reminders import DAILY, WEEKDAYS, WEEKLY
from app.web.fields import Boolean, Choice, Email, Text, WholeNumber, field_error
from app.web.types import RawData

CHANGE = REMIND.with_verified_email()
MAX_RECIPIENTS = 20
HOURS = tuple((str(hour), f"{hour:02}:00") for hour in range(24))


class Addresses(Text):
    """E-mail addresses, each on a line of its own."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        addresses = [address.strip() for address in text.replace(",", "\n").replace(";", "\n").splitlines()]
        if len(addresses) > MAX_RECIPIENTS:
            raise field_error("too_long", f"Must have at most {MAX_RECIPIENTS} addresses.")
        return list(dict.fromkeys(Email().deserialize(address) for address in addresses if address))


class ReminderSchema(VersionSchema):
    enabled = Boolean(load_default=False)
    frequency = Choice(DAILY, WEEKLY, required=True)
    weekday = Choice(*WEEKDAYS, required=True)
    hour = WholeNumber(min=0, max=23, required=True)
    recipients = Addresses(load_default=list)
    include_low_stock = Boolean(load_default=False)
    include_expiring = Boolean(load_default=False)
    expiring_within_days = WholeNumber(min=0, max=365, required=True)


REMINDER = Form(
    ReminderSchema,
    Input("enabled", "Send the reminder", type="checkbox"),
    Input("frequency", "How often", options=[(DAILY, "Every day"), (WEEKLY, "Every week")]),
    Input("weekday", "On", hint="For every week.", options=[(day, day.capitalize()) for day in WEEKDAYS]),
    Input("hour", "At", hint="On the clock of the place.", options=HOURS),
    Input(
        "recipients",
        "To",
        hint=f"Up to {MAX_RECIPIENTS} e-mail addresses, each on a line of its own.",
        type="textarea",
        messages={
            "required": "Enter an address.",
            "too_long": f"Enter at most {MAX_RECIPIENTS} addresses.",
            "invalid_email": "One of these is no e-mail address like bar@example.com.",
        },
    ),
    Input("includeLowStock", "Items that are low", type="checkbox"),
    Input("includeExpiring", "Items that expire soon", type="checkbox"),
    Input(
        "expiringWithinDays",
        "Soon is within so many days",
        inputmode="numeric",
        messages={"invalid_type": "Enter a whole number."},
    ),
    VERSION,
)


@blueprint.page("/reminder", access=REMIND)
def show_reminder(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the settings of the reminder."""
    reminder = reminders.get_reminder(caller, event_id)
    form = REMINDER.fill(
        enabled="true" if reminder["enabled"] else "",
        frequency=reminder["frequency"],
        weekday=reminder["weekday"],
        hour=str(reminder["hour"]),
        recipients="\n".join(reminder["recipients"]),
        includeLowStock="true" if reminder["include_low_stock"] else "",
        includeExpiring="true" if reminder["include_expiring"] else "",
        expiringWithinDays=str(reminder["expiring_within_days"]),
        version=str(reminder["version"]),
    )
    return _render(caller, event_id, form)


@blueprint.act("/reminder", access=CHANGE)
def change_reminder(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Save the settings, unless somebody else has changed them since the form was opened."""
    form = REMINDER.from_request()
    try:
        values = form.load()
        version = values.pop("version")
        actions.update_reminder(caller=caller, event_id=event_id, expected_version=version, **values)
    except FORM_ERRORS as error:
        return _render(caller, event_id, form.with_error(error))
    return go_to(request.path, "The reminder is saved.")


@blueprint.page("/reminder/send", access=REMIND)
def confirm_digest(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask whether to send the reminder now."""
    return _render_digest(caller, event_id)


@blueprint.act("/reminder/send", access=CHANGE)
def send_digest(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Mail the reminder now."""
    try:
        recipients = actions.enqueue_digest(caller=caller, event_id=event_id)
    except FORM_ERRORS as error:
        return _render_digest(caller, event_id, error)
    return go_to(
        url_for("desk_stock.show_reminder", event_id=event_id), f"The reminder goes to {', '.join(recipients)}."
    )


def _render(caller: Caller, event_id: str, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=events.get_event(caller, event_id),
        template="desk/stock_reminder.html",
        title="Reminder",
        lead="A mail with what is low and what expires soon. A further mail comes when an item becomes low.",
        button="Save",
        back=url_for("desk_stock.show", event_id=event_id),
    )


def _render_digest(caller: Caller, event_id: str, error: AppError | None = None) -> Response:
    recipients = reminders.get_reminder(caller, event_id)["recipients"]
    return render_confirmation(
        event=events.get_event(caller, event_id),
        title="Send the reminder now?",
        text=f"It goes to {', '.join(recipients) or 'nobody yet'}, also if nothing is low.",
        button="Send it",
        back=url_for("desk_stock.show_reminder", event_id=event_id),
        error=error,
    )
