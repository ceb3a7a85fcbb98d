"""Bank statements of an organisation, which pay stall fees and invoices of blocks at any of its events."""

from werkzeug.datastructures import FileStorage

from app.accounts.permissions import MONEY_WRITE
from app.applications.errors import StatementUnreadable
from app.blueprints.applications import fee_schemas
from app.blueprints.applications.fee_routes import CSV_LIMIT, MAX_STATEMENT_BYTES
from app.money import statements
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint

blp = Blueprint("organisation_statements", __name__, url_prefix="/api/organisations/me", description="Bank statements")


@blp.post(
    "/money/statement",
    access=may(MONEY_WRITE, whole_organisation=True).with_verified_email(),
    files=fee_schemas.StatementBody,
    returns=fee_schemas.StatementData,
    max_bytes=MAX_STATEMENT_BYTES,
    limit=CSV_LIMIT,
    errors=[StatementUnreadable],
)
def import_organisation_statement(
    file: FileStorage, dry_run: bool, mapping: dict[str, str] | None = None
) -> statements.StatementResult:
    """Record what a bank statement pays at all events of the organisation, each row at the event that it names.

    It is as the statement of one event, `POST /api/events/{eventId}/stall-fees/statement`, but a row may have the
    reference of an application to any event and the number of any invoice. At most 500 are recorded at once.
    """
    return statements.import_statement(get_current_caller(), None, file.read(), dry_run=dry_run, mapping=mapping)
