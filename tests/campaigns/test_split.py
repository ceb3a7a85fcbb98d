"""A test of two variants: a person's variant follows from campaign and person, and from nothing else."""

from hashlib import sha256

import pytest

from tests.factories.accounts import mails_to
from tests.factories.campaigns import Crowd, fanned_out, rows
from tests.http import Client


@pytest.fixture
def crowd(client: Client) -> Crowd:
    return Crowd(client)


def variant(campaign_id: str, person: str, share: float) -> str:
    """The rule, written down a second time."""
    return "B" if int(sha256(f"{campaign_id}:{person}".encode()).hexdigest()[:8], 16) % 10_000 < share * 100 else "A"


@pytest.mark.parametrize("share", [50, 20, 33.33])
def test_ten_thousand_are_split_as_asked_and_by_the_rule(crowd: Crowd, share: float) -> None:
    crowd.sold(*(f"person{number}@example.com" for number in range(10_000)))
    campaign = crowd.send(abTestEnabled=True, variantBTitle="B", abSplitPercent=share)
    fanned_out()
    found = dict(rows("SELECT person, variant FROM campaign_recipient WHERE campaign_id = :id", id=campaign))
    assert len(found) == 10_000
    assert abs(sum(item == "B" for item in found.values()) / 100 - share) <= 2
    assert all(variant(campaign, person, share) == item for person, item in found.items())
    figures = crowd.now(campaign)["variants"]
    assert figures["A"]["total"] + figures["B"]["total"] == 10_000
    assert abs(figures["B"]["total"] - crowd.now(campaign)["audience"]["variants"]["B"]) <= 200


def test_each_variant_has_its_own_words_and_figures(crowd: Crowd) -> None:
    crowd.sold(*(f"p{number}@example.com" for number in range(20)))
    campaign = crowd.send(abTestEnabled=True, title="First", body="One", variantBTitle="Second", abSplitPercent=40)
    found = crowd.finished(campaign)
    for number in range(20):
        (mail,) = mails_to(f"p{number}@example.com")
        expected = {"A": "First", "B": "Second"}[variant(campaign, f"p{number}@example.com", 40)]
        assert mail["subject"] == expected and "One" in mail["text"]
    assert found["variants"]["A"]["sent"] + found["variants"]["B"]["sent"] == found["progress"]["sent"] == 20
