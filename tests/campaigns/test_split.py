"""Tests of two variants: a person's variant depends on the campaign and the person only."""

from hashlib import sha256

import pytest

from tests.factories.accounts import list_mails_to
from tests.factories.campaigns import CampaignEvent, fetch_sql_rows, run_fan_out
from tests.http import Client


@pytest.fixture
def campaign_event(client: Client) -> CampaignEvent:
    return CampaignEvent(client)


def variant(campaign_id: str, person: str, share: float) -> str:
    """The rule of the variant, in Python."""
    return "B" if int(sha256(f"{campaign_id}:{person}".encode()).hexdigest()[:8], 16) % 10_000 < share * 100 else "A"


@pytest.mark.parametrize("share", [50, 20, 33.33])
def test_ten_thousand_people_are_split_by_share_and_rule(campaign_event: CampaignEvent, share: float) -> None:
    campaign_event.sold(*(f"person{number}@example.com" for number in range(10_000)))
    campaign = campaign_event.send(abTestEnabled=True, variantBTitle="B", abSplitPercent=share)
    run_fan_out()
    variants = dict(
        fetch_sql_rows("SELECT person, variant FROM campaign_recipient WHERE campaign_id = :id", id=campaign)
    )
    assert len(variants) == 10_000
    assert abs(sum(name == "B" for name in variants.values()) / 100 - share) <= 2
    assert all(variant(campaign, person, share) == name for person, name in variants.items())
    figures = campaign_event.now(campaign)["variants"]
    assert figures["A"]["total"] + figures["B"]["total"] == 10_000
    assert abs(figures["B"]["total"] - campaign_event.now(campaign)["audience"]["variants"]["B"]) <= 200


def test_each_variant_has_its_own_texts_and_figures(campaign_event: CampaignEvent) -> None:
    campaign_event.sold(*(f"p{number}@example.com" for number in range(20)))
    campaign = campaign_event.send(
        abTestEnabled=True, title="First", body="One", variantBTitle="Second", abSplitPercent=40
    )
    sent_campaign = campaign_event.finished(campaign)
    for number in range(20):
        (mail,) = list_mails_to(f"p{number}@example.com")
        expected = {"A": "First", "B": "Second"}[variant(campaign, f"p{number}@example.com", 40)]
        assert mail["subject"] == expected and "One" in mail["text"]
    assert (
        sent_campaign["variants"]["A"]["sent"] + sent_campaign["variants"]["B"]["sent"]
        == sent_campaign["progress"]["sent"]
        == 20
    )
