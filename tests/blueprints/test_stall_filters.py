"""The filters and sorts of the list of applications that the desk uses as well."""

from flask import Flask

from tests.factories.accounts import create_signed_in_client
from tests.factories.applications import LIST, create_application, decide_application
from tests.factories.events import create_published_event
from tests.factories.payouts import execute_sql
from tests.http import Client, data
from tests.pages.test_team_pages import create_owner


def test_applications_are_found_by_stall_type_and_fee(app: Flask, client: Client) -> None:
    owner = create_signed_in_client(client, create_owner())
    event = create_published_event(owner)
    unpaid = create_application(client, eventId=event["id"], stallType="Crafts", businessName="Ruusa Bakes")
    decide_application(owner, unpaid, documentsRequired=[])
    waiting = create_application(client, eventId=event["id"])

    def find(query: str) -> list[str]:
        return [row["id"] for row in data(owner.get(f"{LIST}?{query}"))["applications"]]

    assert find("sort=waiting") == [waiting["id"], unpaid["id"]]
    assert find("sort=businessName") == [waiting["id"], unpaid["id"]]
    assert find("stallType=crafts") == find("feeState=open") == [unpaid["id"]]
    assert find("feeState=overdue") == find("feeState=paid") == []
    execute_sql("UPDATE merchant_application SET decided_at = now() - interval '15 days' WHERE decision IS NOT NULL")
    assert find("feeState=overdue") == [unpaid["id"]]
    assert owner.get(f"{LIST}?feeState=none").status_code == 422
