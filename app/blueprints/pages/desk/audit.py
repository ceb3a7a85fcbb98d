"""The audit trail of the organisation: who did what, when, with filters and a file."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import AUDIT_READ
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.audit_details import DetailsColumn, SubjectColumn
from app.blueprints.pages.desk.audit_words import ACTION_LABELS, ACTOR_LABELS, AREA_LABELS, SUBJECT_LABELS
from app.blueprints.pages.desk.shell import DeskPages, count_like
from app.blueprints.pages.desk.tables import STATUS, TIME, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import Form, Input
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.desk.audit_subjects import with_subject_names
from app.events import queries as event_queries
from app.teams import audit_trail, queries
from app.web.access import may
from app.web.fields import Choice, EndTimeField, Id, TimeField
from app.web.schema import Query

blueprint = DeskPages("desk_audit", __name__, url_prefix="/desk/audit")


ALL = ("", lazy_gettext("All"))


class FilterSchema(Query):
    actor = Id()
    event_id = Id()
    area = Choice(*AREA_LABELS)
    action = Choice(*ACTION_LABELS)
    since = TimeField(data_key="from")
    until = EndTimeField(data_key="to")


@blueprint.page("", access=may(AUDIT_READ, whole_organisation=True))
def show(caller: Caller) -> ResponseReturnValue:
    """Show the entries, the newest first. The file is an entry itself."""
    if request.args.get("format") == "csv":
        count_like(caller, "audit.export_organisation_entries")
    members = queries.list_members(queries.get_organisation(caller))
    people = {member.account_id: member.name for member in members}
    events = dict(event_queries.list_event_names(caller))

    def list_entries(event_id: str | None = None, **filters: Any) -> Any:
        if event_id is None:
            return with_subject_names(audit_trail.list_organisation_entries_query(caller, **filters))
        return with_subject_names(audit_trail.list_event_entries_query(caller, event_id, **filters))

    record_file = partial(record_export, Action.AUDIT_EXPORTED, organisation_id=caller.organisation_id)
    return render_desk_table("desk/audit.html", _build_table(people, events), list_entries, record_file=record_file)


def _build_table(people: Mapping[str, str], events: Mapping[str, str]) -> Table:
    """The table with the people and events of the organisation as choices of its filters."""
    return Table(
        "audit-trail",
        Column("at", gettext("When"), TIME, sort="at"),
        Column("action", gettext("What"), labels=ACTION_LABELS),
        Column("actor_name", gettext("Who"), link=_link_actor),
        Column("actor_kind", gettext("By"), STATUS, labels=ACTOR_LABELS),
        Column("event_id", gettext("Event"), labels=events),
        SubjectColumn("subject_kind", gettext("On what"), labels=SUBJECT_LABELS, link=_link_subject),
        DetailsColumn("data", gettext("Details"), labels=events),
        Column("network", gettext("Network")),
        sorts=audit_trail.SORTS,
        default_sort="-at",
        counted=mark_plural("%(num)s entry", "%(num)s entries"),
        filters=Form(
            FilterSchema,
            Input("actor", gettext("Person"), options=[ALL, *people.items()]),
            Input("eventId", gettext("Event"), options=[ALL, *events.items()]),
            Input("area", gettext("About"), options=[ALL, *AREA_LABELS.items()]),
            Input(
                "action", gettext("What"), options=[ALL, *sorted(ACTION_LABELS.items(), key=lambda item: str(item[1]))]
            ),
            Input("from", gettext("From"), type="datetime-local"),
            Input("to", gettext("To"), type="datetime-local"),
        ),
        empty=gettext("What people, phones and programs do in your organisation appears here."),
    )


def _link_actor(row: Row) -> str:
    """The entries of the same person, phone or key."""
    actor = row["actor_id"] if row["actor_kind"] == "person" else row["session_id"]
    return url_for("desk_audit.show", actor=actor) if actor else ""


def _link_subject(row: Row) -> str:
    """The page of what it was done on, if there is one."""
    if row["event_id"] is None:
        return ""
    if row["subject_kind"] == "application" and row["subject_id"]:
        return url_for("desk_stalls.show_application", event_id=row["event_id"], application_id=row["subject_id"])
    if row["block_id"]:
        return url_for("desk_guests.show_block", event_id=row["event_id"], block_id=row["block_id"])
    return url_for("desk_event.show", event_id=row["event_id"]) if row["subject_kind"] == "event" else ""
