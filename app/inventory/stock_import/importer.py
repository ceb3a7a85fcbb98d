"""The database part of an import: rows are staged by COPY, compared with the stock and written in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.core.db import ReadOrWriteSession
from app.core.ids import NEW_ID_SQL
from app.core.transaction import transaction
from app.events.queries import hold
from app.inventory.item_fields import ATTRIBUTES, BUCKETS, DATE, DECIMAL_PLACES, ITEM_FIELDS
from app.inventory.sql import CHANNEL, INSERT_MOVEMENTS_CTE, INSERT_MOVEMENTS_SQL, next_moved_at_sql
from app.inventory.stock_import.parser import STAGING_COLUMNS, ParsedSheet, RowError

COPY_BLOCK_BYTES = 256 * 1024
MAX_ATTEMPTS = 3
ERROR_MESSAGES = {
    "required": "A new item needs it.",
    "insufficient_stock": "More would be reserved and damaged than there is.",
}


@dataclass(frozen=True)
class ImportOptions:
    """The event, the account and the options of an import, and the digest of the file."""

    event_id: str
    caller_id: str
    digest: bytes
    partial: bool = False
    dry_run: bool = False
    again: bool = False


@dataclass(frozen=True)
class ImportResult:
    """The number of items that an import created, updated or left unchanged; a dry run only counts them.

    `already_imported_at` is when the same bytes were imported before.
    """

    created: int
    updated: int
    unchanged: int
    errors: Sequence[RowError]
    already_imported_at: datetime | None = None

    @property
    def has_only_errors(self) -> bool:
        return not (self.created or self.updated or self.unchanged) and bool(self.errors)


ImportCallback = Callable[[ReadOrWriteSession, ImportResult], None]


class _Rollback(Exception):
    """Ends the transaction with a rollback and carries the result."""

    def __init__(self, result: ImportResult) -> None:
        super().__init__()
        self.result = result


def import_rows(
    sheet: ParsedSheet,
    options: ImportOptions,
    *,
    limit_statements: Sequence[str] = (),
    on_result: ImportCallback | None = None,
) -> ImportResult:
    """Write the parsed rows; `on_result` runs in the same transaction.

    With an error nothing is written, unless it is a partial import. A file that was imported completely is not imported
    again. `limit_statements` set the time limits of the transaction; without them it has those of a web request.
    Raises NotFound when the event has been deleted meanwhile.
    """
    if sheet.is_unreadable or (sheet.errors and not options.partial):
        return ImportResult(0, 0, 0, sheet.errors)
    for attempt in range(MAX_ATTEMPTS):
        try:
            with transaction() as session:
                for limit_statement in limit_statements:
                    session.execute(text(limit_statement))
                result = _plan_and_write(session, sheet, options)
                if on_result is not None:
                    on_result(session, result)
            return result
        except _Rollback as rollback:
            return rollback.result
        except IntegrityError:
            # Another request created an item with the same SKU; the next attempt finds and updates it.
            if attempt + 1 == MAX_ATTEMPTS:
                raise
    raise AssertionError


def _plan_and_write(session: ReadOrWriteSession, sheet: ParsedSheet, options: ImportOptions) -> ImportResult:
    params = {"event": options.event_id, "caller": options.caller_id}
    session.execute(LOCK_EVENT_IMPORT_SQL, params)
    imported_at = None if options.again else session.scalar(FIND_DIGEST_SQL, {**params, "digest": options.digest})
    if imported_at is not None:
        raise _Rollback(ImportResult(0, 0, sheet.valid_rows, sheet.errors, already_imported_at=imported_at))
    _copy_to_staging(session, sheet)
    session.execute(CREATE_PLAN_SQL, params)
    plan_errors = [
        RowError(row, column, code, ERROR_MESSAGES[code], value or "")
        for row, column, code, value in session.execute(PLAN_ERRORS_SQL)
    ]
    errors = sorted([*sheet.errors, *plan_errors])
    if plan_errors and not options.partial:
        raise _Rollback(ImportResult(0, 0, 0, errors))
    if plan_errors:
        session.execute(DELETE_PLAN_ROWS_SQL, {"rows": list({error.row for error in plan_errors})})
    counts = session.execute(COUNT_PLAN_SQL).one()
    result = ImportResult(**counts._mapping, errors=errors)
    if options.dry_run:
        raise _Rollback(result)
    if result.created or result.updated:
        _write_plan(session, options, params, result)
    return result


def _write_plan(
    session: ReadOrWriteSession, options: ImportOptions, params: dict[str, str], result: ImportResult
) -> None:
    hold(session, options.event_id)
    session.execute(INSERT_ITEMS_SQL, params)
    session.execute(INSERT_OPENING_STOCK_SQL, params)
    session.execute(UPDATE_ITEMS_SQL, params)
    session.execute(RECORD_CHANGES_SQL, {**params, "many": result.created + result.updated > MAX_SINGLE_CHANGES})
    # After a partial import the same file may still add rows, so its digest is not kept.
    if not result.errors:
        session.execute(INSERT_DIGEST_SQL, {**params, "digest": options.digest})


def _copy_to_staging(session: ReadOrWriteSession, sheet: ParsedSheet) -> None:
    session.execute(CREATE_STAGING_SQL)
    driver = session.connection().connection.driver_connection
    assert driver is not None
    sheet.spool.seek(0)
    with driver.cursor() as cursor, cursor.copy(COPY_STAGING_SQL) as copy:
        while block := sheet.spool.read(COPY_BLOCK_BYTES):
            copy.write(block)
    session.execute(ANALYZE_STAGING_SQL)


MAX_SINGLE_CHANGES = 500
"""An import of more items is one change in the stream, and clients load the items again."""
_STAGING_TYPES = {
    field.attribute: "numeric" if field.kind in DECIMAL_PLACES else "date" if field.kind == DATE else "text"
    for field in ITEM_FIELDS
}
_NEW_VALUES = ", ".join(f"coalesce(s.{attribute}, i.{attribute}) AS {attribute}" for attribute in ATTRIBUTES)
_MERGED_VALUES = ", ".join(f"coalesce(s.{attribute}, i.{attribute})" for attribute in ATTRIBUTES)
_CURRENT_VALUES = ", ".join(f"i.{attribute}" for attribute in ATTRIBUTES)
_OLD_QUANTITIES = ", ".join(
    f"coalesce(i.{bucket_column}, 0) AS was_{bucket_column}" for bucket_column in BUCKETS.values()
)
_QUANTITY_DELTAS = ", ".join(
    f"('{bucket}', p.{bucket_column} - p.was_{bucket_column})" for bucket, bucket_column in BUCKETS.items()
)
_ENTRY_COLUMNS = """CAST(:event AS text) AS event_id, p.id AS item_id, entry.bucket, entry.delta,
               'correction' AS reason, 'import' AS note, NULL AS reference, NULL::numeric AS counted,
               NULL::bigint AS corrects, CAST(:caller AS text) AS actor_id"""
LOCK_EVENT_IMPORT_SQL = text("SELECT pg_advisory_xact_lock(hashtextextended('inventory-import:' || :event, 0))")
CREATE_STAGING_SQL = text(f"""
    CREATE TEMP TABLE stock_staging (
        row int, sku_key text COLLATE "C", {", ".join(f"{name} {kind}" for name, kind in _STAGING_TYPES.items())}
    ) ON COMMIT DROP
""")
COPY_STAGING_SQL = f"COPY stock_staging ({', '.join(STAGING_COLUMNS)}) FROM STDIN"
ANALYZE_STAGING_SQL = text("ANALYZE stock_staging (row, sku_key)")
CREATE_PLAN_SQL = text(f"""
    CREATE TEMP TABLE stock_plan ON COMMIT DROP AS
    SELECT s.row, s.sku_key, coalesce(i.id, {NEW_ID_SQL}) AS id, i.id IS NOT NULL AS known, i.is_low AS was_low, {_OLD_QUANTITIES},
           {_NEW_VALUES}, i.id IS NOT NULL AND ROW({_MERGED_VALUES}) IS NOT DISTINCT FROM ROW({_CURRENT_VALUES}) AS same
      FROM stock_staging s
      LEFT JOIN (SELECT known.* FROM inventory_item known
                  WHERE known.event_id = :event AND known.sku_key IN (SELECT sku_key FROM stock_staging)
                  ORDER BY known.id FOR NO KEY UPDATE OF known) i ON i.sku_key = s.sku_key
""")
_MISSING_VALUES_SQL = "\n UNION ALL ".join(
    f"SELECT row, '{field.name}', 'required', sku FROM stock_plan WHERE NOT known AND {field.attribute} IS NULL"
    for field in ITEM_FIELDS
    if field.required
)
PLAN_ERRORS_SQL = text(f"""
    {_MISSING_VALUES_SQL}
    UNION ALL SELECT row, 'onHand', 'insufficient_stock', on_hand::text FROM stock_plan
     WHERE on_hand - reserved - damaged < 0
    ORDER BY 1
""")
DELETE_PLAN_ROWS_SQL = text("DELETE FROM stock_plan WHERE row = ANY(:rows)")
COUNT_PLAN_SQL = text("""
    SELECT count(*) FILTER (WHERE NOT known) AS created, count(*) FILTER (WHERE known AND NOT same) AS updated,
           count(*) FILTER (WHERE same) AS unchanged FROM stock_plan
""")
# In the order of names, as in most of the indexes: it saves a sixth of the time of this statement.
INSERT_ITEMS_SQL = text(f"""
    INSERT INTO inventory_item (id, event_id, sku_key, {", ".join(ATTRIBUTES)})
    SELECT id, :event, sku_key, {", ".join(ATTRIBUTES)} FROM stock_plan WHERE NOT known ORDER BY lower(name)
""")
INSERT_OPENING_STOCK_SQL = text(f"""
    WITH entries AS (
        SELECT {_ENTRY_COLUMNS}, p.on_hand AS on_hand_after, now() AS occurred_at
          FROM stock_plan p, LATERAL (VALUES {_QUANTITY_DELTAS}) AS entry (bucket, delta)
         WHERE NOT p.known AND entry.delta <> 0
    ){INSERT_MOVEMENTS_SQL}
""")
UPDATE_ITEMS_SQL = text(f"""
    WITH moved AS (
        UPDATE inventory_item i
           SET {", ".join(f"{attribute} = p.{attribute}" for attribute in ATTRIBUTES)},
               version = i.version + 1, updated_at = now(),
               moved_at = {next_moved_at_sql("i")}
          FROM stock_plan p WHERE i.id = p.id AND p.known AND NOT p.same
        RETURNING i.id, i.moved_at, i.on_hand, i.available, i.is_low
    ), entries AS (
        SELECT {_ENTRY_COLUMNS}, moved.on_hand AS on_hand_after, moved.moved_at AS occurred_at
          FROM moved JOIN stock_plan p ON p.id = moved.id, LATERAL (VALUES {_QUANTITY_DELTAS}) AS entry (bucket, delta)
         WHERE entry.delta <> 0
    ), {INSERT_MOVEMENTS_CTE}
    INSERT INTO inventory_alert (event_id, item_id, available)
    SELECT :event, moved.id, moved.available FROM moved JOIN stock_plan p ON p.id = moved.id
     WHERE moved.is_low AND NOT p.was_low
""")
RECORD_CHANGES_SQL = text(f"""
    WITH changed_items AS (SELECT id, known FROM stock_plan WHERE NOT same), changes AS (
        INSERT INTO inventory_change (event_id, kind, item_id)
        SELECT :event, CASE WHEN known THEN 'changed' ELSE 'created' END, id FROM changed_items WHERE NOT :many
        UNION ALL SELECT :event, 'many', NULL WHERE :many
    )
    SELECT pg_notify('{CHANNEL}', :event)
""")
INSERT_DIGEST_SQL = text("""
    INSERT INTO inventory_import (event_id, digest) VALUES (:event, :digest) ON CONFLICT DO NOTHING
""")
FIND_DIGEST_SQL = text("SELECT at FROM inventory_import WHERE event_id = :event AND digest = :digest")
"""When these bytes changed this stock as a whole, if they have."""
