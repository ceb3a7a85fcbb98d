"""Personal data: copies, deletion, and what admins do to accounts."""

from app.audit.actions import Action
from tests.audit.scenes import records
from tests.blueprints.test_account_deletion import KEEP, delete_due_accounts, request_deletion
from tests.blueprints.test_admin_accounts import ACCOUNTS, create_admin_client, suspend
from tests.factories.accounts import create_customer, create_signed_in_client
from tests.http import Client, data


@records(Action.OWN_DATA_EXPORTED)
def asking_for_a_copy(client: Client) -> None:
    data(create_signed_in_client(client, create_customer()).post("/api/auth/me/export"), 202)


@records(Action.DELETION_REQUESTED, Action.ACCOUNT_KEPT, Action.ACCOUNT_DELETED)
def leaving_after_a_change_of_mind(client: Client) -> None:
    owner = create_customer()
    data(request_deletion(client, owner).post(KEEP))
    request_deletion(client, owner)
    delete_due_accounts()


@records(Action.ACCOUNT_SUSPENDED, Action.ACCOUNT_RESTORED, Action.ACCOUNT_SESSIONS_ENDED)
def suspending_and_restoring(client: Client) -> None:
    admin, owner = create_admin_client(client), create_customer()
    suspend(admin, owner.id)
    data(admin.post(f"{ACCOUNTS}/{owner.id}/restore", {"reason": "It was a mistake."}))
    data(admin.delete(f"{ACCOUNTS}/{owner.id}/sessions", json={"reason": "They lost their phone."}))
