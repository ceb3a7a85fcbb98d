"""The crew of a stall: people with their codes, planned shifts, and hours."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar

from flask import Response, flash, redirect, url_for
from flask.typing import ResponseReturnValue

from app.accounts.permissions import STALL_MANAGE, STALL_RUN
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import authorise_page, get_team_caller
from app.blueprints.pages.stall import build_download, require_ids
from app.core.errors import AppError, NotFound, StaleVersion, ValidationFailed
from app.core.formatting import format_day
from app.core.languages import gettext, lazy_gettext
from app.crew import actions, hours_report, planned_shifts, queries
from app.crew.crew_members import CrewEntry, MemberWithCode, list_crew_entries
from app.crew.planned_shifts import PlannedShiftEntry
from app.stall.home import OwnStall, get_own_stall
from app.web.access import may
from app.web.fields import Email, Phone, Text, TimeField, field_error
from app.web.schema import Query
from app.web.text_fields import Name, Pin

blueprint = Pages("stall_crew", __name__, url_prefix="/stall/<event_id>", needs_sign_in=True, translated=True)
READ, WRITE = may(STALL_RUN), may(STALL_MANAGE)
CREW_PAGE, MEMBER_PAGE, PLAN_PAGE = (f"pages/stall_{name}.html" for name in ("crew", "member", "plan"))
MAX_CREW_SIZE, MAX_PLANNED_SHIFTS, MAX_TRIES = 500, 2000, 10
Result = TypeVar("Result")


class MemberSchema(Query):
    name = Name(required=True, min=1, max=120)
    role = Text(max=80)
    phone = Phone()
    email = Email()
    pin = Pin()


class Clock(Text):
    """A time of the day, like 18:00."""

    def _deserialize(self, value: object, attr: str | None, data: Any, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        match = re.fullmatch(r"([01]?[0-9]|2[0-3])[:.h]([0-5][0-9])(:[0-9]{2})?", text)
        if match is None:
            raise field_error("invalid_clock", "Must be a time like 18:00.")
        return timedelta(hours=int(match[1]), minutes=int(match[2]))


class PlannedShiftSchema(Query):
    crew_member_id = Text(required=True, max=24)
    day = TimeField(required=True)
    begins = Clock(required=True)
    ends = Clock(required=True)
    note = Text(max=200)


TAKEN_NAME = lazy_gettext("Somebody with this name is in the crew.")
MEMBER = Form(
    MemberSchema,
    Input("name", lazy_gettext("Name"), messages={"required": lazy_gettext("Enter a name."), "taken": TAKEN_NAME}),
    Input("role", lazy_gettext("What they do"), hint=lazy_gettext("For example: till, grill.")),
    Input("phone", lazy_gettext("Telephone number"), type="tel", inputmode="tel"),
    Input("email", lazy_gettext("E-mail address"), type="email", inputmode="email"),
    Input(
        "pin",
        lazy_gettext("A code of their own choice"),
        hint=lazy_gettext(
            "Four to eight digits. Leave it empty, and we choose a code for somebody new, or keep the present one."
        ),
        inputmode="numeric",
        messages={
            "taken": lazy_gettext("Somebody else at this stall has this code. Choose another one."),
        },
    ),
)
PLANNED_SHIFT = Form(
    PlannedShiftSchema,
    Input(
        "crewMemberId",
        lazy_gettext("Who?"),
        messages={"required": lazy_gettext("Choose a person."), "not_found": lazy_gettext("Choose a person.")},
    ),
    Input(
        "day", lazy_gettext("Day"), type="date", messages={"invalid_time": lazy_gettext("Enter a day like 2026-12-04.")}
    ),
    Input(
        "begins",
        lazy_gettext("From"),
        type="time",
        messages={
            "invalid_clock": lazy_gettext("Enter a time like 18:00."),
            "overlap": lazy_gettext("This person has another shift at that time."),
        },
    ),
    Input(
        "ends",
        lazy_gettext("Until"),
        hint=lazy_gettext("A time before the beginning is on the next day."),
        type="time",
        messages={
            "invalid_clock": lazy_gettext("Enter a time like 18:00."),
            "too_long": lazy_gettext("A shift has at most 16 hours."),
        },
    ),
    Input("note", lazy_gettext("Note")),
)
FIELD_BY_PROBLEM = {"startsAt": "begins", "endsAt": "ends"}
"""The inputs of the fields that the actions name."""


@blueprint.get("/crew")
def show(event_id: str) -> Response:
    """Show the crew, and the form to add somebody."""
    return _render_crew(event_id, MEMBER.fill())


@blueprint.post("/crew")
def add(event_id: str) -> Response:
    """Add somebody, and show their code. The code is not shown again."""
    form = MEMBER.from_request()

    def append(entries: list[CrewEntry], values: CrewEntry) -> None:
        if len(entries) >= MAX_CREW_SIZE:
            raise ValidationFailed.of(
                "name", "too_long", gettext("A crew has at most %(max)s people.", max=MAX_CREW_SIZE)
            )
        if any(entry["name"].casefold() == values["name"].casefold() for entry in entries):
            raise ValidationFailed.of("name", "taken", str(TAKEN_NAME))
        entries.append(values)

    try:
        values: CrewEntry = form.load()  # type: ignore[assignment]
        crew = _change_crew(event_id, lambda entries: append(entries, values))
    except FORM_ERRORS as error:
        return _render_crew(event_id, form.with_error(_with_form_paths(error)))
    return _render_code(event_id, crew[-1])


@blueprint.get("/crew/<member_id>")
def show_member(event_id: str, member_id: str) -> Response:
    """Show what can be changed about somebody."""
    member = _get_member(event_id, member_id)
    values = {name: str(value or "") for name, value in member.items() if name in MEMBER.inputs}
    return _render_member(event_id, member_id, MEMBER.fill(**values))


@blueprint.post("/crew/<member_id>")
def change(event_id: str, member_id: str) -> ResponseReturnValue:
    """Save the details of somebody; a new code is shown."""
    form = MEMBER.from_request()

    def replace(entries: list[CrewEntry], values: CrewEntry) -> None:
        position = _find_position(entries, member_id)
        entries[position] = {**values, "id": member_id}

    try:
        values: CrewEntry = form.load()  # type: ignore[assignment]
        crew = _change_crew(event_id, lambda entries: replace(entries, values))
    except FORM_ERRORS as error:
        return _render_member(event_id, member_id, form.with_error(_with_form_paths(error)))
    member = next(row for row in crew if row["id"] == member_id)
    if "shift_code" in member:
        return _render_code(event_id, member)
    flash(gettext("The details are saved."))
    return redirect(url_for("stall_crew.show", event_id=event_id), 303)


@blueprint.post("/crew/<member_id>/code")
def rotate_code(event_id: str, member_id: str) -> Response:
    """Give somebody a new code, and show it. The old one no longer works."""

    def rotate(entries: list[CrewEntry]) -> None:
        entries[_find_position(entries, member_id)]["rotate_code"] = True

    crew = _change_crew(event_id, rotate)
    return _render_code(event_id, next(row for row in crew if row["id"] == member_id))


@blueprint.post("/crew/<member_id>/retire")
def retire(event_id: str, member_id: str) -> ResponseReturnValue:
    """Take somebody out of the crew. Sent twice, it gets the same answer."""
    form = MEMBER.fill()

    def remove(entries: list[CrewEntry]) -> None:
        entries[:] = [entry for entry in entries if entry["id"] != member_id]

    try:
        _change_crew(event_id, remove)
    except FORM_ERRORS as error:
        return _render_crew(event_id, form.with_error(error))
    flash(gettext("They are no longer in the crew. Their hours stay."))
    return redirect(url_for("stall_crew.show", event_id=event_id), 303)


@blueprint.get("/plan")
def show_plan(event_id: str) -> Response:
    """Show the planned shifts, and the form to add one."""
    stall = _get_stall(event_id)
    return _render_plan(event_id, PLANNED_SHIFT.fill(day=f"{stall.local_start:%Y-%m-%d}"))


@blueprint.post("/plan")
def add_shift(event_id: str) -> ResponseReturnValue:
    """Plan a shift."""
    form = PLANNED_SHIFT.from_request()

    def append(entries: list[PlannedShiftEntry], values: Mapping[str, Any]) -> None:
        if len(entries) >= MAX_PLANNED_SHIFTS:
            raise ValidationFailed.of(
                "day", "too_long", gettext("A stall has at most %(max)s planned shifts.", max=MAX_PLANNED_SHIFTS)
            )
        day: datetime = values["day"].replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        next_day = timedelta(days=1 if values["ends"] <= values["begins"] else 0)
        entries.append(
            {
                "crew_member_id": values["crew_member_id"],
                "starts_at": day + values["begins"],
                "ends_at": day + values["ends"] + next_day,
                "note": values.get("note"),
            }
        )

    try:
        values = form.load()
        _change_plan(event_id, lambda entries: append(entries, values))
    except FORM_ERRORS as error:
        return _render_plan(event_id, form.with_error(_with_form_paths(error)))
    flash("The shift is planned.")
    return redirect(url_for("stall_crew.show_plan", event_id=event_id), 303)


@blueprint.post("/plan/<shift_id>/remove")
def remove_shift(event_id: str, shift_id: str) -> ResponseReturnValue:
    """Remove a planned shift. Sent twice, it gets the same answer."""

    def remove(entries: list[PlannedShiftEntry]) -> None:
        entries[:] = [entry for entry in entries if entry["id"] != shift_id]

    _change_plan(event_id, remove)
    flash(gettext("The shift is removed."))
    return redirect(url_for("stall_crew.show_plan", event_id=event_id), 303)


@blueprint.get("/hours")
def show_hours(event_id: str) -> Response:
    """Show what everybody has worked, and the files to download."""
    report = _load_hours(event_id)
    return render_page(
        "pages/stall_hours.html",
        stall=_get_stall(event_id),
        report=report,
        format_minutes=hours_report.format_minutes,
    )


@blueprint.get("/hours.csv")
def download_hours_csv(event_id: str) -> Response:
    """Download the hours as a table."""
    return build_download(hours_report.build_hours_csv(_load_hours(event_id)), "hours.csv", "text/csv; charset=utf-8")


@blueprint.get("/hours.pdf")
def download_hours_pdf(event_id: str) -> Response:
    """Download the hours to print."""
    return build_download(hours_report.draw_hours(_load_hours(event_id)), "hours.pdf")


def _change_crew(event_id: str, change: Callable[[list[CrewEntry]], None]) -> list[MemberWithCode]:
    """The crew after a change of its list. When somebody changes it at the same moment, it starts again."""
    require_ids(event_id)
    caller = authorise_page(WRITE)

    def try_change() -> list[MemberWithCode]:
        crew = queries.get_crew(caller, event_id)
        entries = list_crew_entries(crew)
        change(entries)
        replaced = actions.replace_crew(caller=caller, event_id=event_id, expected_version=crew.version, crew=entries)
        return replaced.crew

    return _repeat_while_stale(try_change)


def _change_plan(event_id: str, change: Callable[[list[PlannedShiftEntry]], None]) -> None:
    """Change the list of planned shifts. When somebody changes it at the same moment, it starts again."""
    require_ids(event_id)
    caller = authorise_page(WRITE)

    def try_change() -> None:
        plan = planned_shifts.get_shift_plan(caller, event_id)
        entries = planned_shifts.list_plan_entries(plan)
        change(entries)
        planned_shifts.replace_shift_plan(
            caller=caller, event_id=event_id, expected_version=plan.version, planned_shifts=entries
        )

    _repeat_while_stale(try_change)


def _repeat_while_stale(try_change: Callable[[], Result]) -> Result:
    for _ in range(MAX_TRIES - 1):
        try:
            return try_change()
        except StaleVersion:
            continue
    return try_change()


def _find_position(entries: Sequence[CrewEntry], member_id: str) -> int:
    """Return where the member is in the list. Raises NotFound."""
    position = next((number for number, entry in enumerate(entries) if entry["id"] == member_id), None)
    if position is None:
        raise NotFound()
    return position


def _with_form_paths(error: AppError) -> AppError:
    """Return the error with the names of inputs, instead of paths in the list that was sent."""
    if not isinstance(error, ValidationFailed):
        return error
    problems = [{**problem, "path": problem["path"].rpartition(".")[2]} for problem in error.data["errors"]]
    return ValidationFailed(
        [{**problem, "path": FIELD_BY_PROBLEM.get(problem["path"], problem["path"])} for problem in problems]
    )


def _get_stall(event_id: str) -> OwnStall:
    require_ids(event_id)
    return get_own_stall(authorise_page(READ), event_id)


def _get_member(event_id: str, member_id: str) -> CrewEntry:
    """Return an active member. Raises NotFound."""
    require_ids(event_id, member_id)
    entries = list_crew_entries(queries.get_crew(authorise_page(WRITE), event_id))
    return entries[_find_position(entries, member_id)]


def _load_hours(event_id: str) -> hours_report.HoursReport:
    require_ids(event_id)
    return hours_report.load_hours_report(authorise_page(WRITE), event_id)


def _may_write() -> bool:
    return WRITE.allows(get_team_caller(WRITE))


def _render_crew(event_id: str, form: FilledForm) -> Response:
    stall, crew = _get_stall(event_id), queries.get_crew(authorise_page(READ), event_id).crew
    return render_form(CREW_PAGE, form, stall=stall, crew=crew, may_write=_may_write())


def _render_member(event_id: str, member_id: str, form: FilledForm) -> Response:
    member = _get_member(event_id, member_id)
    return render_form(MEMBER_PAGE, form, stall=_get_stall(event_id), member=member)


def _render_code(event_id: str, member: MemberWithCode) -> Response:
    return render_page("pages/stall_code.html", stall=_get_stall(event_id), member=member)


def _render_plan(event_id: str, form: FilledForm) -> Response:
    stall, caller = _get_stall(event_id), authorise_page(READ)
    plan = planned_shifts.get_shift_plan(caller, event_id).planned_shifts
    return render_form(
        PLAN_PAGE,
        form,
        stall=stall,
        days=groupby(plan, lambda shift: format_day(shift.starts_at, stall.timezone)),
        at_risk_shifts=planned_shifts.get_at_risk_shifts(caller, event_id),
        member_choices=[
            (member.id, member.name, member.role or "") for member in queries.get_crew(caller, event_id).crew
        ],
        may_write=_may_write(),
    )
