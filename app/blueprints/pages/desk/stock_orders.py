"""An order of a stock: its lines, its deliveries, cancelling it, and its sheet."""

from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.shell import do_once, go_to, render_confirmation, render_desk_form, send_back
from app.blueprints.pages.desk.stock import READ, WRITE, blueprint, get_permissions
from app.blueprints.pages.desk.stock_words import ORDER_STATE_LABELS, WRONG_NUMBER
from app.blueprints.pages.forms import FIELD_MESSAGES, FilledForm, Form, Input
from app.blueprints.pages.inputs import TypedNumber, format_typed_number
from app.core.errors import StaleVersion, ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.events import queries as events
from app.inventory import actions, purchase_order_pdf
from app.inventory.errors import ItemArchived, OrderClosed
from app.inventory.formatting import format_item, format_quantity
from app.inventory.order_states import OPEN
from app.inventory.purchase_order_queries import OrderDetails, format_order_number, get_order_details
from app.web.fields import Boolean
from app.web.file_responses import build_pdf_response
from app.web.schema import Query
from app.web.stock_fields import build_quantity_field

REST_COMES_LATER = Input(
    "restComesLater",
    lazy_gettext("The rest comes later"),
    hint=lazy_gettext("What is missing stays on order, and the order stays open. Otherwise the order is closed."),
    type="checkbox",
    messages={"nothing_arrived": lazy_gettext("Enter how many of at least one item have arrived.")},
)


class DeliverySchema(Query):
    """What has arrived, with a field for each line of the order."""

    rest_comes_later = Boolean(load_default=False)


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
        back=link_to_order(event_id, order_id),
        event=events.get_event(caller, event_id),
        is_dangerous=True,
    )


@blueprint.act("/orders/<order_id>/cancel", access=WRITE)
def cancel_order(caller: Caller, event_id: str, order_id: str) -> ResponseReturnValue:
    """Cancel an order of which nothing more will arrive."""
    path = link_to_order(event_id, order_id)
    try:
        do_once(caller, lambda: actions.cancel_order(caller, event_id, order_id))
    except OrderClosed as error:
        return send_back(path, gettext(error.text))
    return go_to(path, gettext("The order is cancelled."))


@blueprint.page("/orders/<order_id>/sheet.pdf", access=READ)
def download_order(caller: Caller, event_id: str, order_id: str) -> ResponseReturnValue:
    """Show the sheet of an order, to print or to send."""
    data = purchase_order_pdf.get_order_pdf(caller, event_id, order_id)
    return build_pdf_response(data, f"order-{format_order_number(order_id)}")


def link_to_order(event_id: str, order_id: str) -> str:
    """The page of an order."""
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
            gettext("Arrived now of %(name)s", name=line["name"]),
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
        number=format_order_number(order.id),
        state_labels=ORDER_STATE_LABELS,
        is_open=order.status == OPEN,
        is_receivable=order.status == OPEN and permissions["may_write"],
        format_item=format_item,
        format_quantity=format_quantity,
    )
