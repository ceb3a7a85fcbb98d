"""The desk of organisers."""

from tests.ceiling.cases import Ask, case
from tests.factories.events import create_event, create_organiser_client
from tests.http import Client

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
