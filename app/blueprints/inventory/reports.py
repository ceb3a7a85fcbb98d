"""The reports operation: it returns a report, the state of a background job, or the file of a job."""

from datetime import datetime
from typing import TypedDict, Unpack

from flask import Response
from marshmallow import ValidationError, fields, validates_schema

from app.accounts.caller import Caller
from app.blueprints.inventory.file_transfer import CSV_TYPE
from app.blueprints.inventory.schemas import ID_METADATA
from app.inventory import actions, background_jobs, queries
from app.inventory.item_fields import JsonObject
from app.inventory.reports import report_queries
from app.inventory.reports.definitions import REPORTS
from app.inventory.reports.parameters import DEFAULT_DAYS, MAX_DAYS, build_report_parameters
from app.web.envelope import envelope_response
from app.web.fields import Boolean, Choice, EndTimeField, List, Secret, TimeField, WholeNumber, field_error
from app.web.file_responses import build_attachment, build_private_attachment
from app.web.schema import Query, Schema

ReportResponse = Response | JsonObject | tuple[JsonObject, int]
FORMATS = ("json", "csv", "pdf")


class ReportQuery(Query):
    """The report or the job to return."""

    type = Choice(*REPORTS, load_default="summary")
    format = Choice(*FORMATS, load_default="json", metadata={"description": "a pdf is made by a worker: 202"})
    since = TimeField(
        data_key="from",
        load_default=None,
        metadata={
            "description": f"for movements and charts of days; without it {DEFAULT_DAYS} days; a naive time is the event's"
        },
    )
    until = EndTimeField(data_key="to", load_default=None)
    within_days = WholeNumber(min=0, max=MAX_DAYS, load_default=90, metadata={"description": "for what expires"})
    job_id = Secret(
        max=24,
        load_default=None,
        metadata={**ID_METADATA, "description": "a background job; the other parameters are ignored"},
    )
    download = Boolean(load_default=False, metadata={"description": "with jobId the file itself, when there is one"})

    @validates_schema
    def check_download_job(self, data: JsonObject, **_: object) -> None:
        if data["download"] and not data["job_id"]:
            raise ValidationError({"jobId": field_error("required", "This field is required.").messages})


class ReportData(Schema):
    """A report, or the job with 202 and with `jobId`."""

    type = Choice(*REPORTS)
    currency = fields.String(metadata={"example": "NAD"})
    generated_at = TimeField()
    booked_until = TimeField(allow_none=True, metadata={"description": "the last movement that is in it"})
    event_id = fields.String(metadata=ID_METADATA)
    event_name = fields.String(metadata={"example": "Windhoek Lights"})
    since = TimeField(data_key="from")
    until = TimeField(data_key="to")
    within_days = WholeNumber()
    totals = fields.Dict(metadata={"example": {"items": 84, "costValueMinor": 2395176, "saleValueMinor": 3205188}})
    row_count = WholeNumber()
    rows = List(fields.Dict(), data_key="items", metadata={"description": "the first 1,000 rows; the CSV has all"})
    categories = List(fields.Dict(), metadata={"description": "in a summary the rows, else the ten of most value"})
    suppliers = List(fields.Dict(), metadata={"description": "the ten of most value"})
    days = List(fields.Dict(), metadata={"description": "every day with what came in and went out"})
    reasons = List(fields.Dict(), metadata={"description": "movements by reason"})
    variances = List(fields.Dict(), metadata={"description": "the ten largest differences that counts found"})
    periods = List(fields.Dict(), metadata={"description": "what expires, week by week"})
    job_id = fields.String(metadata={**ID_METADATA, "rare": True})
    kind = fields.String(metadata={"example": "import", "rare": True})
    status = fields.String(metadata={"enum": ["queued", "running", "done", "failed"], "example": "done", "rare": True})
    progress = WholeNumber(metadata={"description": "0 to 100", "rare": True})
    result = fields.Dict(metadata={"description": "for an import what its answer would say", "rare": True})
    download_url = fields.String(metadata={"description": "where the file is, for five minutes", "rare": True})
    error = fields.String(metadata={"rare": True})


class ReportOptions(TypedDict):
    """The type and the period of a report."""

    type: str
    since: datetime | None
    until: datetime | None
    within_days: int


def build_report_response(
    caller: Caller,
    event_id: str,
    *,
    job_id: str | None,
    download: bool,
    format: str,
    **report_options: Unpack[ReportOptions],
) -> ReportResponse:
    """Return the report, its job, or the file of a job. Raises NotFound, Throttled, ValidationFailed."""
    if job_id and download:
        return build_private_attachment(*queries.get_job_file(caller, event_id, job_id))
    if job_id:
        return background_jobs.serialize_job(queries.get_job(caller, event_id, job_id), caller.session_id)
    event = queries.get_event(caller, event_id)
    parameters = build_report_parameters(event.timezone, now=event.now, **report_options)
    if format == "pdf":
        return actions.request_report_pdf(caller=caller, event=event, parameters=parameters), 202
    if format == "csv":
        return build_attachment(
            report_queries.stream_report_csv(event, parameters), f"stock-{parameters.type}.csv", CSV_TYPE
        )
    return envelope_response(report_queries.load_report_json(event, parameters))
