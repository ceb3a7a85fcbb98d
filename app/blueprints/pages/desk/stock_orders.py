"""What to order, the orders and their deliveries, what counts found, and the reports of a stock."""

from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.file_columns import REPORT_COLUMNS
from app.blueprints.pages.desk.shell import do_once, go_to, render_confirmation, render_desk_form, send_back
from app.blueprints.pages.desk.stock import READ, WRITE, blueprint, get_permissions, link_item
from app.blueprints.pages.desk.stock_words import ORDER_STATE_LABELS, WRONG_NUMBER
from app.blueprints.pages.desk.tables import AMOUNT, CODE, NUMBER, STATUS, TIME, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FIELD_MESSAGES, FilledForm, Form, Input
from app.blueprints.pages.inputs import TypedNumber, format_typed_number
from app.core.errors import NotFound, StaleVersion, ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural
from app.events import queries as events
from app.inventory import actions, purchase_order_pdf, queries
from app.inventory.errors import ItemArchived, OrderClosed
from app.inventory.formatting import format_quantity
from app.inventory.order_states import OPEN
from app.inventory.purchase_order_queries import ORDER_SORTS, OrderDetails, get_order_details, list_orders_query
from app.inventory.purchase_order_sql import MAX_ITEMS
from app.inventory.reports.definitions import REPORTS
from app.inventory.reports.parameters import ReportParameters, build_report_parameters
from app.inventory.reports.report_queries import stream_report_csv
from app.inventory.variance import SORTS as VARIANCE_SORTS
from app.inventory.variance import list_variances_query
from app.web.fields import Boolean, EndTimeField, TimeField
from app.web.file_responses import build_pdf_response
from app.web.schema import Query
from app.web.stock_fields import build_quantity_field

EXPIRY_DAYS = 90
REST_COMES_LATER = Input(
    "restComesLater",
    lazy_gettext("The rest comes later"),
    hint=lazy_gettext("What is missing stays on order, and the order stays open. Otherwise the order is closed."),
    type="checkbox",
    messages={"nothing_arrived": lazy_gettext("Enter how many of at least one item have arrived.")},
)
FILE_HEADERS = {"Cache-Control": "private, no-store"}


class PeriodSchema(Query):
    since = TimeField(data_key="from")
    until = EndTimeField(data_key="to")


class DeliverySchema(Query):
    """What has arrived, with a field for each line of the order."""

    rest_comes_later = Boolean(load_default=False)


ORDERS = Table(
    "orders",
    Column("created_at", lazy_gettext("Ordered"), TIME, sort="createdAt", link=lambda row: _link_order(row)),
    Column("supplier", lazy_gettext("Supplier")),
    Column("status", lazy_gettext("State"), STATUS, labels=ORDER_STATE_LABELS),
    Column("items", lazy_gettext("Items"), NUMBER),
    Column("actor_name", lazy_gettext("By")),
    sorts=ORDER_SORTS,
    default_sort="-createdAt",
    counted=mark_plural("%(num)s order", "%(num)s orders"),
    empty=lazy_gettext("Orders appear here when you have made one."),
)
VARIANCES = Table(
    "variances",
    Column("name", lazy_gettext("Item"), sort="name", link=link_item),
    Column("sku", lazy_gettext("SKU"), CODE),
    Column("counted_at", lazy_gettext("Counted"), TIME),
    Column("expected", lazy_gettext("Expected"), NUMBER),
    Column("counted", lazy_gettext("Found"), NUMBER),
    Column("variance", lazy_gettext("Difference"), NUMBER),
    Column("value", lazy_gettext("Value"), AMOUNT),
    Column("counts", lazy_pgettext("stock", "Counts"), NUMBER),
    sorts=VARIANCE_SORTS,
    default_sort="name",
    counted=mark_plural("%(num)s counted item", "%(num)s counted items"),
    filters=Form(
        PeriodSchema, Input("from", lazy_gettext("From"), type="date"), Input("to", lazy_gettext("Until"), type="date")
    ),
    empty=lazy_gettext("Counted items appear here when somebody counts the stock."),
)


@blueprint.page("/order", access=READ)
def show_reorder(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show what an order would contain, by supplier, and the orders that were made."""
    return _render_reorder(caller, event_id)


@blueprint.act("/order", access=WRITE)
def order_items(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Order the items that the page showed, if they are still low."""
    ids = [id for id in request.form.get("items", "").split(",")[:MAX_ITEMS] if is_id(id)]
    reorder = actions.reorder_items(caller=caller, event_id=event_id, item_ids=ids)
    done = (
        gettext("Items ordered: %(num)s. Print the orders, or mail them to the suppliers.", num=reorder.items)
        if reorder.items
        else gettext("Nothing was ordered: these items are on order already.")
    )
    return go_to(request.path, done)


@blueprint.page("/orders/<order_id>", access=READ)
def show_order(caller: Caller, event_id: str, order_id: str) -> ResponseReturnValue:
    """Show an order, and while it is open the form for its delivery."""
    order = get_order_details(caller, event_id, order_id)
    form = _build_delivery_form(order)
    values = {
        f"{name}-{line['item_id']}": format_typed_number(line["expected"])
        for line in order.lines
        for name in ("quantity", "expected")
    }
    return _render_order(caller, event_id, order, form.fill(**values))


@blueprint.act("/orders/<order_id>", access=WRITE)
def receive_order(caller: Caller, event_id: str, order_id: str) -> ResponseReturnValue:
    """Record what has arrived, and close the order, unless the rest comes later."""
    order = get_order_details(caller, event_id, order_id)
    form = _build_delivery_form(order).from_request()
    try:
        numbers = form.load()
        lines: list[actions.ArrivedLine] = [
            {
                "item_id": line["item_id"],
                "quantity": numbers[f"quantity-{line['item_id']}"],
                "expected": numbers[f"expected-{line['item_id']}"],
            }
            for line in order.lines
        ]
        rest_comes_later = numbers["rest_comes_later"]
        status = do_once(
            caller,
            lambda: actions.receive_order(caller, event_id, order_id, lines=lines, rest_comes_later=rest_comes_later),
        )
    except ValidationFailed as error:
        return _render_order(caller, event_id, order, form.with_error(_name_fields(error, order)))
    except OrderClosed as error:
        return send_back(request.path, gettext(error.text))
    except StaleVersion:
        return send_back(
            request.path,
            gettext("Something of this order was recorded meanwhile. Look at the numbers, and send them again."),
        )
    done = (
        gettext("The delivery is recorded. The order stays open for the rest.")
        if status == OPEN
        else gettext("The delivery is recorded, and the order is closed.")
    )
    return go_to(request.path, done)


@blueprint.page("/orders/<order_id>/cancel", access=WRITE)
def confirm_cancellation(caller: Caller, event_id: str, order_id: str) -> ResponseReturnValue:
    """Say what cancelling an order does."""
    order = get_order_details(caller, event_id, order_id)
    return render_confirmation(
        title=gettext("Cancel this order?"),
        text=gettext(
            "What has not arrived is not on order any more, and can be ordered again. No mail is sent: tell %(supplier)s yourself.",
            supplier=order.supplier or gettext("the supplier"),
        ),
        button=gettext("Cancel the order"),
        back=_link_to_order(event_id, order_id),
        event=events.get_event(caller, event_id),
        is_dangerous=True,
    )


@blueprint.act("/orders/<order_id>/cancel", access=WRITE)
def cancel_order(caller: Caller, event_id: str, order_id: str) -> ResponseReturnValue:
    """Cancel an order of which nothing more will arrive."""
    path = _link_to_order(event_id, order_id)
    try:
        do_once(caller, lambda: actions.cancel_order(caller, event_id, order_id))
    except OrderClosed as error:
        return send_back(path, gettext(error.text))
    return go_to(path, gettext("The order is cancelled."))


@blueprint.page("/orders/<order_id>/sheet.pdf", access=READ)
def download_order(caller: Caller, event_id: str, order_id: str) -> ResponseReturnValue:
    """Show the sheet of an order, to print or to send."""
    data = purchase_order_pdf.get_order_pdf(caller, event_id, order_id)
    return build_pdf_response(data, f"order-{order_id[-8:]}")


@blueprint.page("/counts", access=READ)
def show_variances(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show what the counts of a period found, and the reports."""
    event = events.get_event(caller, event_id)
    return render_desk_table(
        "desk/stock_counts.html",
        VARIANCES,
        partial(list_variances_query, caller, event_id),
        event=event,
        record_file=partial(record_export, Action.VARIANCE_EXPORTED, event_id=event_id, subject=event_id),
        reports=REPORTS.values(),
        report_columns=REPORT_COLUMNS,
    )


@blueprint.page("/reports/<name>", access=READ)
def download_report(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Download a report as CSV."""
    event, parameters = _build_report(caller, event_id, name)
    headers = {**FILE_HEADERS, "Content-Disposition": f'attachment; filename="stock-{name}.csv"'}
    return Response(stream_report_csv(event, parameters), content_type="text/csv; charset=utf-8", headers=headers)


@blueprint.act("/reports/<name>", access=READ)
def request_report(caller: Caller, event_id: str, name: str) -> ResponseReturnValue:
    """Start the job that draws a report."""
    event, parameters = _build_report(caller, event_id, name)
    job = actions.request_report_pdf(caller=caller, event=event, parameters=parameters)
    return go_to(
        url_for("desk_stock.show_job", event_id=event_id, job_id=job["job_id"]), gettext("The report is being made.")
    )


def _build_report(caller: Caller, event_id: str, name: str) -> tuple[queries.StockEvent, ReportParameters]:
    """The event, and a report of the last thirty days. Raises NotFound."""
    event = queries.get_event(caller, event_id)
    if name not in REPORTS:
        raise NotFound()
    parameters = build_report_parameters(
        event.timezone, type=name, now=event.now, since=None, until=None, within_days=EXPIRY_DAYS
    )
    return event, parameters


def _link_order(row: Row) -> str:
    return _link_to_order(row["event_id"], row["id"])


def _link_to_order(event_id: str, order_id: str) -> str:
    return url_for("desk_stock.show_order", event_id=event_id, order_id=order_id)


def _build_delivery_form(order: OrderDetails) -> Form:
    """The form with a quantity for each line, and what was expected when the page was opened."""
    names = [f"{name}-{line['item_id']}" for line in order.lines for name in ("quantity", "expected")]
    fields: dict[str, Any] = {name: build_quantity_field(TypedNumber, required=True, min=0) for name in names}
    messages = {
        **WRONG_NUMBER,
        "required": lazy_gettext("Enter how many have arrived, or 0."),
        "too_large": FIELD_MESSAGES["too_large"],
        "archived": gettext(ItemArchived.message),
        "not_on_order": lazy_gettext(
            "Nothing of it is on order any more. Enter 0, and add what came too much in the table of items."
        ),
    }
    inputs = [
        Input(
            f"quantity-{line['item_id']}",
            line["name"],
            inputmode="decimal",
            messages={code: f"{line['name']}: {message}" for code, message in messages.items()},
        )
        for line in order.lines
    ]
    inputs += [Input(f"expected-{line['item_id']}", "", type="hidden") for line in order.lines]
    return Form(DeliverySchema.from_dict(fields), *inputs, REST_COMES_LATER)


def _name_fields(error: ValidationFailed, order: OrderDetails) -> ValidationFailed:
    """The error with the names of the form's fields in place of the lines of the action."""
    names = {f"lines[{index}].quantity": f"quantity-{line['item_id']}" for index, line in enumerate(order.lines)}
    return ValidationFailed([{**item, "path": names.get(item["path"], item["path"])} for item in error.data["errors"]])


def _render_order(caller: Caller, event_id: str, order: OrderDetails, form: FilledForm) -> Response:
    event = events.get_event(caller, event_id)
    permissions = get_permissions(caller, event)
    return render_desk_form(
        form,
        title=gettext("Order to %(supplier)s", supplier=order.supplier)
        if order.supplier
        else gettext("Order without a supplier"),
        button=gettext("Record the delivery"),
        back=url_for("desk_stock.show_reorder", event_id=event_id),
        event=event,
        template="desk/stock_delivery.html",
        order=order,
        state_labels=ORDER_STATE_LABELS,
        is_open=order.status == OPEN,
        is_receivable=order.status == OPEN and permissions["may_write"],
        format_quantity=format_quantity,
    )


def _render_reorder(caller: Caller, event_id: str) -> Response:
    event = events.get_event(caller, event_id)
    reorder = actions.reorder_items(caller=caller, event_id=event_id, dry_run=True)
    return render_desk_table(
        "desk/stock_order.html",
        ORDERS,
        partial(list_orders_query, caller, event_id),
        event=event,
        reorder=reorder,
        unfilled_items=queries.list_unfilled_items(event.id),
        item_ids=",".join(line.item_id for order in reorder.orders for line in order.lines),
        format_quantity=format_quantity,
        path=request.path,
        **get_permissions(caller, event),
    )
