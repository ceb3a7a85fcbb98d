"""The home of a merchant: the next step, stalls, people at work and money; the floor status, the pause, and papers."""

from collections.abc import Iterator

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.permissions import MERCHANT, STALL_MANAGE, STALL_MONEY, STALL_OWN, STALL_READ, STALL_RUN
from app.applications.errors import InvoiceNotAvailable
from app.applications.own_applications import get_own_invoice_pdf
from app.blueprints.pages.forms import FORM_ERRORS, Form, render_form
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema
from app.blueprints.pages.rendering import Pages, describe_error, render_page
from app.blueprints.pages.signed_in import authorise_page, find_chosen_team, get_signed_in_caller
from app.blueprints.pages.stall_payouts import describe_payout
from app.core.errors import AppError, Conflict, NotFound
from app.core.formatting import format_month
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.crew import actions as crew_actions
from app.crew.states import CHECKED_OUT
from app.invitations.participation import set_floor_status
from app.merchants import actions as merchant_actions
from app.merchants.states import FLOOR_STATUSES
from app.payouts.statement import draw_statement, find_statement, list_statement_months
from app.stall.home import load_stall_home
from app.stall.next_step import list_step_buttons
from app.web.access import may

blueprint = Pages("stall", __name__, url_prefix="/stall", needs_sign_in=True, translated=True)
PAGE, RESUME_PAGE = "pages/stall.html", "pages/stall_resume.html"
RESUME = Form(ConfirmedSchema, PASSWORD)
FLOOR_LABELS = {
    "open": lazy_gettext("Open"),
    "busy": lazy_gettext("Busy"),
    "paused": lazy_gettext("On a break"),
    "closed": lazy_gettext("Closed"),
}
APPLICATION_LABELS = {
    "submitted": lazy_gettext("The organiser decides"),
    "waitlisted": lazy_gettext("On the waitlist"),
    "declined": lazy_gettext("Declined"),
    "awaiting_documents": lazy_gettext("Documents are missing"),
    "awaiting_payment": lazy_gettext("The stall fee is due"),
    "ready": lazy_gettext("One step is left"),
    "activated": lazy_gettext("Confirmed"),
    "withdrawn": lazy_gettext("Withdrawn"),
    "expired": lazy_gettext("Ended with the event"),
}


@blueprint.get("")
def show() -> ResponseReturnValue:
    """Show the home of the merchant. Who has no business is led to the page to open one."""
    if find_chosen_team(get_signed_in_caller(), MERCHANT) is None:
        return render_page("pages/stall_none.html")
    return _render()


@blueprint.post("/floor-status")
def change_floor_status() -> ResponseReturnValue:
    """Set the status that guests see at one stall."""
    caller = authorise_page(may(STALL_RUN))
    event_id, status = request.form.get("event", ""), request.form.get("status", "")
    if not is_id(event_id) or status not in FLOOR_STATUSES:
        raise NotFound()
    try:
        set_floor_status(caller=caller, status=status, event_id=event_id)
    except Conflict as error:
        return _render(error)
    flash(gettext("Guests now see: %(status)s.", status=FLOOR_LABELS[status]))
    return redirect(url_for("stall.show", _anchor=f"stall-{event_id}"), 303)


@blueprint.post("/<event_id>/check-out/<member_id>")
def check_out(event_id: str, member_id: str) -> ResponseReturnValue:
    """End the shift of a member. One that has ended already gets the same answer."""
    require_ids(event_id, member_id)
    try:
        crew_actions.change_shift_status(
            caller=authorise_page(may(STALL_RUN)), event_id=event_id, status=CHECKED_OUT, crew_member_id=member_id
        )
    except Conflict as error:
        return _render(error)
    flash(gettext("The shift is ended."))
    return redirect(url_for("stall.show"), 303)


@blueprint.post("/pause")
def pause() -> ResponseReturnValue:
    """Pause the business."""
    merchant_actions.pause_merchant(caller=authorise_page(may(STALL_MANAGE)))
    flash(gettext("Your business is paused. Your stalls are closed, and no money is paid out."))
    return redirect(url_for("stall.show"), 303)


@blueprint.get("/resume")
def confirm_resume() -> Response:
    """Ask for the password before the pause ends."""
    authorise_page(may(STALL_OWN))
    return render_form(RESUME_PAGE, RESUME.fill())


@blueprint.post("/resume")
def resume() -> ResponseReturnValue:
    """End the pause."""
    caller, form = authorise_page(may(STALL_OWN)), RESUME.from_request()
    try:
        merchant_actions.resume_merchant(caller=caller, current_password=form.load()["password"])
    except FORM_ERRORS as error:
        return render_form(RESUME_PAGE, form.with_error(error))
    flash(gettext("Your business is active again. Open each stall when you are ready."))
    return redirect(url_for("stall.show"), 303)


@blueprint.get("/invoices/<application_id>.pdf")
def download_invoice(application_id: str) -> Response:
    """Download the invoice for a stall fee, the pro forma invoice before it is paid, or with `number` a credit note."""
    require_ids(application_id)
    merchant_id = authorise_page(may(STALL_MONEY)).merchant_id
    try:
        number, pdf = get_own_invoice_pdf(merchant_id, application_id, number=request.args.get("number"))
    except InvoiceNotAvailable as error:
        raise NotFound() from error
    return build_download(pdf, f"invoice-{number}.pdf")


@blueprint.get("/statements/<month>.pdf")
def download_statement(month: str) -> Response:
    """Download the statement of a month in which the balance has changed."""
    merchant_id = authorise_page(may(STALL_MONEY)).merchant_id
    first_day = next((day for day in list_statement_months(merchant_id) if f"{day:%Y-%m}" == month), None)
    statement = find_statement(merchant_id, first_day) if first_day else None
    if statement is None:
        raise NotFound()
    return build_download(draw_statement(statement), f"statement-{month}.pdf")


def build_download(content: bytes | Iterator[bytes], file_name: str, content_type: str = "application/pdf") -> Response:
    """Return a file that the browser saves."""
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"', "Cache-Control": "private, no-store"}
    return Response(content, content_type=content_type, headers=headers)


def _render(error: AppError | None = None) -> Response:
    caller = authorise_page(may(STALL_READ))
    home = load_stall_home(caller)
    return render_page(
        PAGE,
        status=error.status if error else 200,
        error=describe_error(error) if error else "",
        home=home,
        floor_labels=FLOOR_LABELS,
        application_labels=APPLICATION_LABELS,
        step_buttons=list_step_buttons(),
        describe_payout=describe_payout,
        format_month=format_month,
        statement_months=list_statement_months(caller.merchant_id)[:12] if home.money else [],
    )


def require_ids(*ids: str) -> None:
    """Check ids from the path. Raises NotFound for what is no id."""
    if not all(map(is_id, ids)):
        raise NotFound()
