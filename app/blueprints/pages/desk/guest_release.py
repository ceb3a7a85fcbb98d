"""Unused places of a block that go back to the public: now, or by a plan at set times."""

from dataclasses import replace
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import actions, queries
from app.allocations.block_facts import digest_facts
from app.allocations.release_plan import ReleaseStep, list_release_steps
from app.blueprints.pages.desk.event_form import describe_moved_times
from app.blueprints.pages.desk.form_parts import FACTS, WRONG_NUMBER, FactsSchema
from app.blueprints.pages.desk.guest_block import build_block_path, get_event_block
from app.blueprints.pages.desk.guest_block_form import MAX_PLACES, STEP, StepAmount
from app.blueprints.pages.desk.guest_words import describe_credit, name_block, reword
from app.blueprints.pages.desk.guests import WRITE, blueprint
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext, ngettext
from app.events.queries import OwnEvent
from app.web.fields import TimeField, WholeNumber
from app.web.schema import Query


class ReleaseSchema(Query):
    quantity = WholeNumber(min=1, max=MAX_PLACES)


class StepSchema(FactsSchema):
    on = TimeField(required=True)
    amount = StepAmount(required=True)


RELEASE = Form(
    ReleaseSchema,
    Input(
        "quantity",
        lazy_gettext("How many places"),
        hint=lazy_gettext("Empty: all unused places."),
        inputmode="numeric",
        messages={"invalid_type": WRONG_NUMBER, "too_small": lazy_gettext("Enter 1 or more.")},
    ),
)
NEW_STEP = Form(StepSchema, replace(STEP[0], label=lazy_gettext("When")), STEP[1], FACTS)
STEP_REMOVAL = Form(FactsSchema, FACTS)


@blueprint.page("/<block_id>/release", access=WRITE)
def confirm_release(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Say what goes back to the public if all unused places are given back now."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_release(caller, event, block, RELEASE.fill())


@blueprint.act("/<block_id>/release", access=WRITE)
def release(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Give unused places back to the public now."""
    event, block = get_event_block(caller, event_id, block_id)
    form = RELEASE.from_request()

    def give_back() -> str:
        result = actions.release_unused_slots(caller, event_id, block_id, **form.load())
        released = ngettext("Given back: %(num)s place.", "Given back: %(num)s places.", result["released"])
        if block["event_cancelled"]:
            return released
        available = gettext("Tickets for the public now: %(num)s.", num=result["public_available_after"])
        return f"{released} {available}"

    try:
        done = do_once(caller, give_back)
    except FORM_ERRORS as error:
        return _render_release(caller, event, block, form.with_error(reword(error)))
    return go_to(build_block_path(event_id, block_id), done)


@blueprint.page("/<block_id>/plan", access=WRITE)
def show_plan(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the steps of the release plan, and the form for another one."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_plan(event, block, NEW_STEP.fill(facts=digest_facts(block)))


@blueprint.act("/<block_id>/plan", access=WRITE)
def add_step(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Add a step to the plan, unless somebody else has changed its facts since the form was opened."""
    event, block = get_event_block(caller, event_id, block_id)
    form = NEW_STEP.from_request()
    try:
        values = form.load()
        new_step = {"on": values["on"], **values["amount"]}
        _store_steps(caller, block, [*_list_coming(block), new_step], expected_digest=values["facts"])
    except FORM_ERRORS as error:
        return _render_plan(event, block, form.with_error(reword(error)))
    done = (gettext("The step is added."), describe_moved_times(form, event.timezone))
    return go_to(_build_plan_path(event_id, block_id), " ".join(filter(None, done)))


@blueprint.act("/<block_id>/plan/remove", access=WRITE)
def remove_step(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Take a step out of the plan. It can be added again."""
    event, block = get_event_block(caller, event_id, block_id)
    steps = _list_coming(block)
    kept = [step for step in steps if step["on"].isoformat() != request.form.get("on")]
    if len(kept) == len(steps):
        raise NotFound()
    try:
        facts = STEP_REMOVAL.from_request().load()["facts"]
        _store_steps(caller, block, kept, expected_digest=facts)
    except FORM_ERRORS as error:
        return _render_plan(event, block, NEW_STEP.fill(facts=digest_facts(block)).with_error(reword(error)))
    return go_to(_build_plan_path(event_id, block_id), gettext("The step is removed."))


def _list_coming(block: queries.BlockRow) -> list[ReleaseStep]:
    return [step for step in list_release_steps(block["release_plan"]) if step["released_at"] is None]


def _store_steps(caller: Caller, block: queries.BlockRow, steps: list[Any], *, expected_digest: str) -> None:
    plan: list[Any] = [{name: step.get(name) for name in ("on", "quantity", "percent")} for step in steps]
    actions.update_block(caller, block["event_id"], block["id"], expected_digest=expected_digest, release_plan=plan)


def _build_plan_path(event_id: str, block_id: str) -> str:
    return url_for("desk_guests.show_plan", event_id=event_id, block_id=block_id)


def _render_release(caller: Caller, event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Give unused places of %(name)s back now?", name=name_block(block)),
        lead=" ".join(filter(None, (_describe_release(caller, event, block), describe_credit(block)))),
        button=gettext("Give them back"),
        back=build_block_path(event.id, block["id"]),
        is_dangerous=True,
    )


def _describe_release(caller: Caller, event: OwnEvent, block: queries.BlockRow) -> str:
    """Which places go back, and to whom; of a cancelled or archived event nothing is for the public."""
    preview = actions.preview_release(caller, event.id, block["id"])
    if block["event_cancelled"]:
        return gettext(
            "Unused places: %(unused)s (free: %(free)s, invited: %(invited)s). Their links and codes end, and guests get "
            "no mail. You cannot undo this.",
            unused=preview["released"],
            free=block["available"],
            invited=block["invited"],
        )
    return gettext(
        "Unused places: %(unused)s (free: %(free)s, invited: %(invited)s). Tickets for the public: %(before)s "
        "now, and %(after)s if all unused places go back. Free places go first, then the oldest invitations. "
        "Their links and codes end, and guests get no mail. You cannot undo this, but you can take places from "
        "the public again while it has some.",
        unused=preview["released"],
        free=block["available"],
        invited=block["invited"],
        after=preview["public_available_after"],
        before=preview["public_available_before"],
    )


def _render_plan(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        template="desk/guest_plan.html",
        title=gettext("When places are given back: %(name)s", name=name_block(block)),
        lead=gettext(
            "Unused places go back to the public in steps, for example some a week before the event and the rest "
            "on its day."
        ),
        button=gettext("Add the step"),
        back=build_block_path(event.id, block["id"]),
        block=block,
        credit=describe_credit(block),
        steps=list_release_steps(block["release_plan"]),
        facts=digest_facts(block),
    )
