"""The desk of organisers."""

from app.core.outbox.executor import run_due_jobs
from tests.ceiling.cases import Ask, case
from tests.factories.events import create_event, create_organiser_client
from tests.http import Client, data

ME = "/api/organisations/me"


@case(f"GET {ME}/tasks")
def what_waits(client: Client) -> Ask:
    owner = create_organiser_client(client)
    create_event(owner)
    return lambda: owner.get(f"{ME}/tasks")


@case(f"GET {ME}/search")
def searching_everything(client: Client) -> Ask:
    owner = create_organiser_client(client)
    create_event(owner, name="River Nights")
    return lambda: owner.get(f"{ME}/search?q=river")


@case(f"GET {ME}/files")
def the_files_with_their_total(client: Client) -> Ask:
    owner = create_organiser_client(client)
    return lambda: owner.get(f"{ME}/files?withTotal=true")


@case(f"GET {ME}/files/<fileId>")
def one_file(client: Client) -> Ask:
    owner, file_id = _request_settlement(client)
    return lambda: owner.get(f"{ME}/files/{file_id}")


@case(f"GET {ME}/files/<fileId>/content")
def the_content_of_a_file(client: Client) -> Ask:
    owner, file_id = _request_settlement(client)
    run_due_jobs(worker="test")
    return lambda: owner.get(f"{ME}/files/{file_id}/content")


@case(f"DELETE {ME}/files/<fileId>")
def deleting_a_file(client: Client) -> Ask:
    owner, file_id = _request_settlement(client)
    return lambda: owner.delete(f"{ME}/files/{file_id}")


def _request_settlement(client: Client) -> tuple[Client, str]:
    owner = create_organiser_client(client)
    event = create_event(owner)
    return owner, data(owner.post(f"/api/events/{event['id']}/money/settlement"), 202)["fileId"]
