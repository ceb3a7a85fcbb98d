"""Jobs of people's data: copies of it, their links and their end, and the deletion of accounts."""

from datetime import timedelta
from tempfile import TemporaryFile
from typing import Any

from flask import current_app
from sqlalchemy import func, select

from app.accounts import data_export
from app.accounts.data_export import EXPORTS_PER_DAY
from app.accounts.deletion import erase_account_when_due
from app.accounts.models import Account
from app.clients import storage
from app.clients.email_templates import render_email
from app.clients.mail import send
from app.core import throttle
from app.core.db import database_now, release_connection
from app.core.formatting import format_day, format_time
from app.core.jobs import Delivery, Permanent, Run, job
from app.core.outbox import enqueue_many
from app.core.transaction import transaction

DUE_ACCOUNTS_PER_RUN = 500


@job(
    "accounts.export_data",
    Delivery.AT_LEAST_ONCE,
    bulk=True,
    time_limit=timedelta(minutes=5),
    ended="accounts.record_failed_exports",
)
def export_data(run: Run, *, export_id: str) -> None:
    """Makes a copy of a person's data, stores it and has its link mailed. A second run does nothing."""
    owner, day = data_export.find_queued_owner(export_id), format_day(database_now())
    release_connection()
    if owner is None:
        return
    name = data_export.build_file_name(export_id)
    with TemporaryFile() as file:
        data_export.write_export(file, owner, day=day)
        size = file.tell()
        file.seek(0)
        storage.put(name, file, content_type="application/zip")
    with transaction() as session:
        is_finished = data_export.finish_export(session, export_id, size)
    if not is_finished and data_export.find_mail_data(export_id) is None:
        storage.delete(name)


@job("accounts.record_failed_exports", Delivery.LOCAL)
def record_failed_exports(run: Run, *, ends: list[dict[str, Any]]) -> None:
    """Marks copies that could not be made. Their owners may ask for another one at once."""
    with transaction() as session:
        run.done_in(session)
        for account_id in data_export.fail_exports(session, [end["payload"]["export_id"] for end in ends]):
            throttle.clear(session, EXPORTS_PER_DAY, account_id)


@job("accounts.mail_export", Delivery.AT_LEAST_ONCE)
def mail_export(run: Run, *, export_id: str) -> None:
    """Mails the link of a copy while it is valid."""
    mail_data = data_export.find_mail_data(export_id)
    release_connection()
    if mail_data is None:
        return
    owner, expires_at = mail_data
    base_url = current_app.extensions["settings"].PUBLIC_BASE_URL
    message = render_email(
        "data_export",
        to=owner.email,
        key=run.key,
        name=owner.name,
        until=format_time(expires_at),
        url=f"{base_url}/data-export/{data_export.build_token(export_id)}",
    )
    send(message, fence=run.fence)


@job("accounts.delete_exports", Delivery.AT_LEAST_ONCE, every=timedelta(hours=1))
def delete_exports(run: Run) -> None:
    """Deletes copies whose link has expired, that failed, or whose account was deleted."""
    while ids := data_export.list_dead_exports():
        release_connection()
        for export_id in ids:
            storage.delete(data_export.build_file_name(export_id))
        with transaction() as session:
            data_export.delete_exports(session, ids)


@job("accounts.delete_due_accounts", Delivery.LOCAL, every=timedelta(hours=1))
def delete_due_accounts(run: Run) -> None:
    """Has each account erased whose grace period is over, in a job of its own."""
    with transaction() as session:
        run.done_in(session)
        query = select(Account.id).where(Account.deletion_due_at <= func.now(), Account.suspended_at.is_(None))
        due_ids = session.scalars(query.order_by(Account.deletion_due_at).limit(DUE_ACCOUNTS_PER_RUN)).all()
        enqueue_many("accounts.erase", [(None, {"account_id": account_id}) for account_id in due_ids])


@job("accounts.erase", Delivery.LOCAL)
def erase_account(run: Run, *, account_id: str) -> None:
    """Erases an account that is due. A second run does nothing."""
    with transaction() as session:
        run.done_in(session)
        erase_account_when_due(session, account_id)


@job("accounts.mail_farewell", Delivery.AT_LEAST_ONCE, personal=True)
def mail_farewell(run: Run, *, account_id: str = "", email: str = "", name: str = "", until: str = "") -> None:
    """Confirms the deletion by mail, with the time until which money may come back."""
    if not email:
        raise Permanent("the address was erased when this ended")
    message = render_email("account_deleted", to=email, key=run.key, name=name, until=until, account_id=account_id)
    send(message, fence=run.fence)
