"""Failed lookups of secret links: twenty a minute per client network, over operations and pages together."""

import pytest

from tests.factories.applications import LIST, create_approved_application, create_ready_application, find_mailed_token
from tests.factories.events import create_organiser_client
from tests.http import Client, read_error

UNKNOWN = "A" * 43
MISSES = (
    f"{LIST}/docs/{UNKNOWN}",
    f"{LIST}/pay/{UNKNOWN}",
    f"{LIST}/files/{UNKNOWN}",
    f"/api/merchant-activation/{UNKNOWN}",
    f"/api/events/merchant-invite/{UNKNOWN}",
    f"/documents/{UNKNOWN}",
    f"/pay/{UNKNOWN}",
    f"/activate/{UNKNOWN}",
    f"/merchant-invite/{UNKNOWN}",
)


@pytest.mark.parametrize("path", MISSES)
def test_after_twenty_misses_the_next_one_is_throttled(client: Client, path: str) -> None:
    for number in range(20):
        assert client.get(MISSES[number % len(MISSES)]).status_code == 404
    answer = client.get(path)
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0
    assert client.get(path, environ_base={"REMOTE_ADDR": "127.9.9.9"}).status_code == 404


def test_a_dead_link_counts_like_an_unknown_one(client: Client) -> None:
    create_ready_application(client, owner := create_organiser_client(client))
    dead = find_mailed_token("activate")
    made = owner.get(LIST).get_json()["data"]["applications"][0]
    owner.post(f"{LIST}/{made['id']}/links", {"purpose": "activation"})
    for _ in range(20):
        assert read_error(client.get(f"/api/merchant-activation/{dead}")) == (410, "LINK_EXPIRED")
    assert read_error(client.get(f"/api/merchant-activation/{dead}")) == (429, "RATE_LIMITED")


def test_what_is_found_costs_nothing(client: Client) -> None:
    create_approved_application(client, create_organiser_client(client))
    token = find_mailed_token("documents")
    for _ in range(25):
        assert client.get(f"{LIST}/docs/{token}").status_code == 200
    for _ in range(20):
        assert client.get(f"{LIST}/docs/{UNKNOWN}").status_code == 404
