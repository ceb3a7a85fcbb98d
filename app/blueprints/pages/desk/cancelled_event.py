"""What the cancellation of an event affects, in words."""

from app.core.formatting import format_money
from app.core.languages import gettext, ngettext
from app.desk.cancelled_event import load_cancellation_effects
from app.events.queries import OwnEvent


def list_effects(event: OwnEvent) -> list[str]:
    """What the event has of tickets, stalls and invoices, for a caller who may change it."""
    sold = sum(ticket_type.sold for ticket_type in event.ticket_types)
    guests = sum(ticket_type.claimed + ticket_type.admitted for ticket_type in event.ticket_types)
    effects = load_cancellation_effects(event.id)
    fees = ngettext("%(num)s stall fee is paid", "%(num)s stall fees are paid", effects.paid_fees)
    open_invoices = ngettext("%(num)s invoice is not paid", "%(num)s invoices are not paid", effects.open_invoices)
    partly_paid = ""
    if effects.partly_paid_minor > 0:
        partly_paid = gettext(", or only in part: %(amount)s", amount=format_money(effects.partly_paid_minor))
    invoices = ngettext("%(num)s invoice is paid", "%(num)s invoices are paid", effects.paid_invoices)
    lines = [
        (guests, ngettext("%(num)s guest of blocks has a ticket", "%(num)s guests of blocks have a ticket", guests)),
        (
            sold,
            ngettext(
                "%(num)s ticket is sold. You pay it back in your shop",
                "%(num)s tickets are sold. You pay them back in your shop",
                sold,
            ),
        ),
        (
            effects.stalls,
            ngettext("%(num)s stall is approved", "%(num)s stalls are approved", effects.stalls),
        ),
        (
            effects.waiting,
            ngettext(
                "%(num)s applicant waits for a decision. You can still decline the application, or write to them",
                "%(num)s applicants wait for a decision. You can still decline the applications, or write to them",
                effects.waiting,
            ),
        ),
        (effects.paid_fees, f"{fees}: {format_money(effects.paid_fees_minor)}"),
        (effects.open_invoices, f"{open_invoices}{partly_paid}"),
        (effects.paid_invoices, f"{invoices}: {format_money(effects.paid_invoices_minor)}"),
        (
            effects.scheduled_messages,
            ngettext(
                "%(num)s scheduled message still goes out, unless you cancel it under Messages",
                "%(num)s scheduled messages still go out, unless you cancel them under Messages",
                effects.scheduled_messages,
            ),
        ),
    ]
    return [text for count, text in lines if count] or [gettext("There are no tickets, stalls, invoices or messages.")]
