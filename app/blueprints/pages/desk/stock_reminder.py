"""The reminder of a stock: whom it mails about low and expiring items, and when."""

from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.form_parts import VERSION, VersionSchema
from app.blueprints.pages.desk.shell import do_once, go_to, render_confirmation, render_desk_form
from app.blueprints.pages.desk.stock import REMIND, blueprint
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import AppError
from app.core.languages import gettext, lazy_gettext, lazy_pgettext
from app.events import queries as events
from app.inventory import actions, reminders
from app.inventory.reminders import DAILY, WEEKDAYS, WEEKLY
from app.web.fields import Boolean, Choice, Email, Text, WholeNumber, field_error
from app.web.types import RawData

CHANGE = REMIND.with_verified_email()
MAX_RECIPIENTS = 20
WEEKDAY_LABELS = {
    "monday": lazy_gettext("Monday"),
    "tuesday": lazy_gettext("Tuesday"),
    "wednesday": lazy_gettext("Wednesday"),
    "thursday": lazy_gettext("Thursday"),
    "friday": lazy_gettext("Friday"),
    "saturday": lazy_gettext("Saturday"),
    "sunday": lazy_gettext("Sunday"),
}
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
    Input("enabled", lazy_gettext("Send the reminder"), type="checkbox"),
    Input(
        "frequency",
        lazy_gettext("How often"),
        options=[(DAILY, lazy_gettext("Every day")), (WEEKLY, lazy_gettext("Every week"))],
    ),
    Input(
        "weekday",
        lazy_gettext("Day"),
        hint=lazy_gettext("Only for a reminder every week."),
        options=list(WEEKDAY_LABELS.items()),
    ),
    Input("hour", lazy_gettext("Time"), hint=lazy_gettext("On the clock of the place."), options=HOURS),
    Input(
        "recipients",
        lazy_pgettext("recipient", "To"),
        hint=lazy_gettext("Up to 20 e-mail addresses, each on a line of its own."),
        type="textarea",
        messages={
            "required": lazy_gettext("Enter an address."),
            "too_long": lazy_gettext("Enter at most 20 addresses."),
            "invalid_email": lazy_gettext("Enter e-mail addresses like bar@example.com."),
        },
    ),
    Input("includeLowStock", lazy_gettext("Items that are low"), type="checkbox"),
    Input("includeExpiring", lazy_gettext("Items that expire soon"), type="checkbox"),
    Input(
        "expiringWithinDays",
        lazy_gettext("Days before an item expires"),
        inputmode="numeric",
        messages={"invalid_type": lazy_gettext("Enter a whole number.")},
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
    return go_to(request.path, gettext("The reminder is saved."))


@blueprint.page("/reminder/send", access=REMIND)
def confirm_digest(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask whether to send the reminder now."""
    return _render_digest(caller, event_id)


@blueprint.act("/reminder/send", access=CHANGE)
def send_digest(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Mail the reminder now."""
    try:
        addresses = do_once(caller, lambda: ", ".join(actions.enqueue_digest(caller=caller, event_id=event_id)))
    except FORM_ERRORS as error:
        return _render_digest(caller, event_id, error)
    return go_to(
        url_for("desk_stock.show_reminder", event_id=event_id),
        gettext("The reminder goes to %(addresses)s.", addresses=addresses),
    )


def _render(caller: Caller, event_id: str, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=events.get_event(caller, event_id),
        template="desk/stock_reminder.html",
        title=gettext("Reminder"),
        lead=gettext(
            "A mail with the items that are low or expire soon. Another mail is sent when an item becomes low."
        ),
        button=gettext("Save"),
        back=url_for("desk_stock.show", event_id=event_id),
    )


def _render_digest(caller: Caller, event_id: str, error: AppError | None = None) -> Response:
    recipients = reminders.get_reminder(caller, event_id)["recipients"]
    return render_confirmation(
        event=events.get_event(caller, event_id),
        title=gettext("Send the reminder now?"),
        text=gettext("It goes to %(addresses)s, even if nothing is low.", addresses=", ".join(recipients))
        if recipients
        else gettext("The reminder has no addresses yet. Enter them first."),
        button=gettext("Send it"),
        back=url_for("desk_stock.show_reminder", event_id=event_id),
        error=error,
    )
