"""Audiences by role, ticket type, admission, block, application and language; preview and sending agree."""

from typing import Any

import pytest

from tests.campaigns.test_audience import create_block, execute, preview_and_send, suppress, unsubscribe
from tests.factories.accounts import create_account
from tests.factories.allocations import Block, claim_slot
from tests.factories.applications import create_application, decide_application
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows
from tests.factories.merchants import create_participant
from tests.http import Client, data, list_problems


@pytest.fixture
def campaign_event(client: Client) -> CampaignEvent:
    return CampaignEvent(client)


def choose(*roles: str, **conditions: Any) -> dict[str, Any]:
    return {"audienceType": "filtered_people", "audienceFilter": {"roles": list(roles), **conditions}}


def apply(campaign_event: CampaignEvent, email: str, **fields: Any) -> dict[str, Any]:
    return create_application(campaign_event.client, eventId=campaign_event.event["id"], email=email, **fields)


def claim(block: Block, *emails: str) -> None:
    for email, code in zip(emails, block.codes(len(emails)), strict=True):
        data(claim_slot(block.owner, code, name="Frieda", email=email))


def people(campaign_id: str) -> set[str]:
    rows = fetch_sql_rows("SELECT person FROM campaign_recipient WHERE campaign_id = :id", id=campaign_id)
    return {person for (person,) in rows}


def reached(campaign_event: CampaignEvent, *roles: str, **conditions: Any) -> set[str]:
    """The people whom a campaign reaches, as many as its preview says."""
    preview_and_send(campaign_event, **choose(*roles, **conditions), channels=["email"])
    ((campaign_id,),) = fetch_sql_rows("SELECT id FROM campaign ORDER BY created_at DESC LIMIT 1")
    return {address.partition("@")[0] for address in people(campaign_id)}


def test_every_role_reaches_its_people_and_each_person_once(client: Client, campaign_event: CampaignEvent) -> None:
    campaign_event.sold("frieda@example.com", "frieda@example.com", "both@example.com", None)
    claim(create_block(campaign_event), "both@example.com")
    create_participant(client, campaign_event.owner, campaign_event.event["id"], email="stall@example.com")
    apply(campaign_event, "both@example.com")
    assert reached(campaign_event, "ticket_holders") == {"frieda", "both"}
    assert reached(campaign_event, "guests") == {"both"}
    assert reached(campaign_event, "stallholders") == {"stall"}
    assert "both" in reached(campaign_event, "applicants")
    preview = campaign_event.preview(**choose("ticket_holders", "guests", "stallholders", "applicants"))
    assert preview["excluded"]["noAddress"] == 1 and preview["excluded"]["duplicate"] >= 3
    assert reached(campaign_event, "ticket_holders", "guests", "stallholders", "applicants") >= {
        "frieda",
        "both",
        "stall",
    }


def test_conditions_choose_by_ticket_type_admission_and_block(campaign_event: CampaignEvent) -> None:
    campaign_event.sold("in@example.com", "out@example.com")
    execute("UPDATE ticket SET admitted_at = now() WHERE email = 'in@example.com'")
    first, second = create_block(campaign_event), create_block(campaign_event)
    claim(first, "first@example.com")
    claim(second, "second@example.com")
    assert reached(campaign_event, "ticket_holders", admitted=True) == {"in"}
    assert reached(campaign_event, "ticket_holders", "guests", admitted=False) == {"out", "first", "second"}
    assert reached(campaign_event, "guests", blockIds=[second.id]) == {"second"}
    assert reached(campaign_event, "ticket_holders", ticketTypeIds=[campaign_event.type]) == {"in", "out"}
    assert reached(campaign_event, "ticket_holders", ticketTypeIds=["0" * 24]) == set()


def test_applicants_are_chosen_by_state_and_without_it_those_who_may_still_come(campaign_event: CampaignEvent) -> None:
    apply(campaign_event, "waits@example.com")
    declined = apply(campaign_event, "declined@example.com")
    decide_application(campaign_event.owner, declined, "declined")
    assert reached(campaign_event, "applicants") == {"waits"}
    assert reached(campaign_event, "applicants", applicationStates=["declined"]) == {"declined"}
    refunded = "paid_at = now(), refunded_at = now(), status = 'ready'"
    execute(f"UPDATE merchant_application SET {refunded} WHERE email = 'refunded@example.com'")
    execute("UPDATE merchant_application SET erased_at = now() WHERE email = 'waits@example.com'")
    assert reached(campaign_event, "applicants") == set()


def test_stallholders_are_also_approved_applicants_with_a_settled_fee_once(
    client: Client, campaign_event: CampaignEvent
) -> None:
    create_participant(client, campaign_event.owner, campaign_event.event["id"], email="stall@example.com")
    for name in (
        "free",
        "documents",
        "paid",
        "waived",
        "refunded",
        "unpaid",
        "both",
        "stall",
        "submitted",
        "declined",
        "gone",
    ):
        fields = {"amountMinor": 0} if name in ("free", "documents", "both", "stall", "gone") else {}
        application = apply(campaign_event, f"{name}@example.com", **fields)
        if name == "submitted":
            continue
        decision = "declined" if name == "declined" else "approved"
        kinds = {"documentsRequired": ["identity"] if name in ("documents", "paid") else []}
        decide_application(campaign_event.owner, application, decision, **({} if name == "declined" else kinds))
    execute("UPDATE merchant_application SET paid_at = now() WHERE email = 'paid@example.com'")
    execute("UPDATE merchant_application SET waived_at = now(), status = 'ready' WHERE email = 'waived@example.com'")
    execute("UPDATE merchant_application SET erased_at = now() WHERE email = 'gone@example.com'")
    campaign_event.sold("both@example.com")
    settled = {"stall", "free", "documents", "paid", "waived", "both"}
    assert reached(campaign_event, "stallholders") == settled
    assert reached(campaign_event, "stallholders", "ticket_holders") == settled
    assert reached(campaign_event, "stallholders", "applicants") == settled | {"refunded", "unpaid", "submitted"}
    assert "unpaid" not in reached(campaign_event, "stallholders", "applicants", applicationStates=["submitted"])
    unsubscribe("free@example.com", campaign_event)
    suppress("email", "paid@example.com")
    assert reached(campaign_event, "stallholders") == settled - {"free", "paid"}


def test_a_language_is_that_of_the_row_or_the_account_or_english(campaign_event: CampaignEvent) -> None:
    campaign_event.sold("account@example.com", "nobody@example.com")
    create_account(email="account@example.com", language="de")
    apply(campaign_event, "applicant@example.com")
    execute("UPDATE merchant_application SET language = 'af' WHERE email = 'applicant@example.com'")
    everybody = ("ticket_holders", "applicants")
    assert reached(campaign_event, *everybody, languages=["de"]) == {"account"}
    assert reached(campaign_event, *everybody, languages=["af"]) == {"applicant"}
    assert reached(campaign_event, *everybody, languages=["en"]) == {"nobody"}


def test_an_unsubscribe_and_a_dead_address_count_for_every_role(campaign_event: CampaignEvent) -> None:
    apply(campaign_event, "gone@example.com")
    apply(campaign_event, "dead@example.com")
    unsubscribe("gone@example.com", campaign_event)
    suppress("email", "dead@example.com")
    preview = campaign_event.preview(**choose("applicants"))
    assert preview["people"] == 0
    assert preview["excluded"] == {"optedOut": 1, "noAddress": 0, "suppressed": 1, "duplicate": 0, "notRelated": 0}


def test_a_stallholder_has_no_ticket_in_the_text(client: Client, campaign_event: CampaignEvent) -> None:
    apply(campaign_event, "applicant@example.com")
    campaign_event.finished(campaign_event.send(**choose("applicants"), body="You have {tickets}."))
    ((places,),) = fetch_sql_rows("SELECT places FROM campaign_recipient WHERE person = 'applicant@example.com'")
    assert places == 0


def test_a_filter_belongs_to_its_audience_only(campaign_event: CampaignEvent) -> None:
    wrong = {
        "filtered_people": {},
        "event_ticket_holders": {"audienceFilter": {"roles": ["guests"]}},
        "specific_users": {"audienceFilter": {"roles": ["guests"]}, "userIds": ["0" * 24]},
    }
    for audience, fields in wrong.items():
        problems = list_problems(campaign_event.broadcast(audienceType=audience, **fields))
        assert list(problems) == ["audienceFilter"], audience
    for chosen in ({}, {"roles": []}, {"roles": ["nobody"]}, {"roles": ["guests"], "blockIds": ["x"]}):
        assert campaign_event.broadcast(audienceType="filtered_people", audienceFilter=chosen).status_code == 422
    draft = campaign_event.draft(**choose("guests"))
    assert campaign_event.now(draft)["audienceFilter"]["roles"] == ["guests"]
    changed = data(campaign_event.owner.patch(campaign_event.one(draft), {"audienceType": "event_ticket_holders"}))
    assert changed["audienceFilter"] is None
    copy = data(
        campaign_event.owner.post(f"{campaign_event.one(campaign_event.draft(**choose('guests')))}/duplicate", {}), 201
    )
    assert copy["audienceFilter"]["roles"] == ["guests"]
