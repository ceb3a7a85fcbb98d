"""Copies of data, deletion of accounts, and what admins do to accounts."""

from app.audit.actions import Action
from app.core.outbox import enqueue
from app.core.transaction import transaction
from tests.audit.scenes import records
from tests.factories.accounts import create_account, create_customer, create_signed_in_client, run_jobs
from tests.factories.payouts import execute_sql
from tests.http import Client, data

ME = "/api/auth/me"


@records(Action.OWN_DATA_EXPORTED, Action.DELETION_REQUESTED, Action.ACCOUNT_KEPT, Action.ACCOUNT_DELETED)
def leaving(client: Client) -> None:
    owner = create_customer()
    me = create_signed_in_client(client, owner)
    data(me.post(f"{ME}/export"), 202)
    for _ in range(2):
        data(me.delete(ME))
    for _ in range(2):
        data(me.post(f"{ME}/keep"))
    data(me.delete(ME))
    execute_sql("UPDATE account SET deletion_due_at = now() WHERE id = :id", id=owner.id)
    for _ in range(2):
        with transaction():
            enqueue("accounts.erase", account_id=owner.id)
    run_jobs()


@records(Action.ACCOUNT_SUSPENDED, Action.ACCOUNT_RESTORED, Action.ACCOUNT_SESSIONS_ENDED)
def suspending_an_account(client: Client) -> None:
    admin = create_signed_in_client(client, create_account("admin"))
    path = f"/api/admin/accounts/{create_customer().id}"
    for act in ("suspend", "suspend", "restore", "restore"):
        data(admin.post(f"{path}/{act}", {"reason": "The phone was stolen."}))
    data(admin.delete(f"{path}/sessions", json={}))
