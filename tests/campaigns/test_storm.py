"""A campaign while workers, relay, Redis, mail server and database connections are killed at random.

`CAMPAIGN_STORM=2000:60` plays 2,000 recipients under sixty seconds of it; by default it is shorter.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from tests.factories.campaigns import CampaignEvent, fetch_sql_rows
from tests.faults.cluster import FAST, Cluster, cluster_of, settled
from tests.faults.storm import Storm
from tests.http import Client
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc"),
    pytest.mark.xdist_group("outbox_faults"),
    pytest.mark.timeout(300),
]
PEOPLE, SECONDS = (int(part) for part in os.environ.get("CAMPAIGN_STORM", "250:6").split(":"))
EVERY, PATIENCE = 0.3, 180


@pytest.fixture
def cluster(app: Flask, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_of(app, tmp_path) as cluster:
        yield cluster


def count_sent(cluster: Cluster) -> Counter[str]:
    """How often the message of each recipient was sent."""
    counts: Counter[str] = Counter()
    for name, count in cluster.sink.noted().items():
        (recipient,) = re.findall(r"<campaign-([0-9a-f]{24})@", name)
        counts[recipient] += count
    return counts


def test_each_person_gets_at_most_one_message_when_workers_are_killed(client: Client, cluster: Cluster) -> None:
    campaign_event = CampaignEvent(client)
    campaign_event.sold(*(f"p{number}@example.com" for number in range(PEOPLE)))
    cluster.start(FAST)
    campaign = campaign_event.send()
    storm = Storm(cluster, seed=8)
    storm.rage(kills=round(SECONDS / EVERY), every=EVERY)
    wait_until(lambda: settled("campaigns.%"), PATIENCE)

    campaign_data = campaign_event.now(campaign)
    states = dict(fetch_sql_rows("SELECT id, state FROM campaign_recipient WHERE campaign_id = :id", id=campaign))
    sent, by_state = count_sent(cluster), Counter(states.values())
    assert (
        fetch_sql_rows("SELECT count(DISTINCT person) FROM campaign_recipient") == [(PEOPLE,)] and len(states) == PEOPLE
    )
    assert max(sent.values()) == 1, storm.killed
    assert {recipient for recipient, state in states.items() if state == "sent"} <= set(sent)
    assert set(sent) <= {recipient for recipient, state in states.items() if state in ("sent", "uncertain")}
    assert by_state["sent"] + by_state["uncertain"] == PEOPLE, (by_state, storm.killed)
    assert by_state["uncertain"] <= storm.bound_on_uncertain(), storm.killed
    assert campaign_data["status"] == "sent" and campaign_data["progress"]["pending"] == 0
    assert {name: campaign_data["progress"][name] for name in ("sent", "uncertain")} == {
        name: by_state[name] for name in ("sent", "uncertain")
    }
