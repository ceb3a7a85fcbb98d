"""The audit trail: `/api/organisations/me/audit`, `/api/events/{eventId}/audit` and `/api/admin/audit`."""

from collections.abc import Iterable
from typing import Any

from flask import Response

from app.accounts.permissions import AUDIT_READ
from app.blueprints.audit import schemas
from app.teams import audit_trail
from app.web.access import ANALYST, get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.paging import Listing
from app.web.rate_limits import Limit

blp = Blueprint("audit", __name__, url_prefix="/api", description="The audit trail")
ORGANISATION_PATH, EVENT_PATH, ADMIN_PATH = "/organisations/me/audit", "/events/<eventId>/audit", "/admin/audit"
LISTING = Listing("entries", schemas.AuditEntryRow, audit_trail.SORTS, "-at")
CSV_LIMIT = Limit(20)


@blp.get(
    ORGANISATION_PATH,
    access=may(AUDIT_READ, whole_organisation=True),
    query=schemas.AuditQuery,
    returns=LISTING,
)
def list_organisation_entries(**filters: Any) -> Any:
    """List who did what in the organisation, the newest first.

    An entry is written in the transaction of the act, and never changes.
    """
    return audit_trail.list_organisation_entries_query(get_current_caller(), **filters)


@blp.get(
    f"{ORGANISATION_PATH}.csv",
    access=may(AUDIT_READ, whole_organisation=True),
    query=schemas.AuditQuery,
    content_type="text/csv",
    limit=CSV_LIMIT,
)
def export_organisation_entries(**filters: Any) -> Response:
    """Get the entries of the organisation as CSV. The export is an entry itself."""
    return _build_csv_response(audit_trail.stream_organisation_csv(get_current_caller(), **filters))


@blp.get(EVENT_PATH, access=may(AUDIT_READ), query=schemas.AuditQuery, returns=LISTING)
def list_event_entries(event_id: str, **filters: Any) -> Any:
    """List who did what on an event, the newest first."""
    return audit_trail.list_event_entries_query(get_current_caller(), event_id, **filters)


@blp.get(
    f"{EVENT_PATH}.csv",
    access=may(AUDIT_READ),
    query=schemas.AuditQuery,
    content_type="text/csv",
    limit=CSV_LIMIT,
)
def export_event_entries(event_id: str, **filters: Any) -> Response:
    """Get the entries of an event as CSV. The export is an entry itself."""
    return _build_csv_response(audit_trail.stream_event_csv(get_current_caller(), event_id, **filters))


@blp.get(ADMIN_PATH, access=ANALYST, query=schemas.AdminAuditQuery, returns=LISTING)
def list_all_entries(**filters: Any) -> Any:
    """List who did what in all organisations and accounts, the newest first."""
    return audit_trail.list_all_entries_query(**filters)


@blp.get(f"{ADMIN_PATH}.csv", access=ANALYST, query=schemas.AdminAuditQuery, content_type="text/csv", limit=CSV_LIMIT)
def export_all_entries(**filters: Any) -> Response:
    """Get the entries as CSV. The export is an entry itself."""
    return _build_csv_response(audit_trail.stream_all_csv(**filters))


def _build_csv_response(content: Iterable[bytes]) -> Response:
    headers = {"Content-Disposition": "attachment; filename=audit.csv", "Cache-Control": "private, no-store"}
    return Response(content, content_type="text/csv; charset=utf-8", headers=headers)
