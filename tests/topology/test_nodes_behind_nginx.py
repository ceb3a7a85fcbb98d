"""A node is taken out, and another one dies, while people use the service through nginx."""

import logging

import pytest
from flask import Flask
from sqlalchemy import text

from app.core.db import db
from tests.factories.accounts import create_account, sign_in
from tests.http import Client
from tests.topology.conftest import needs
from tests.topology.nodes import Pair, Traffic
from tests.waiting import wait_until

log = logging.getLogger(__name__)
pytestmark = [pytest.mark.slow, needs("nginx")]


@pytest.fixture
def traffic(app: Flask, two: Pair) -> Traffic:
    token = sign_in(Client(app.test_client()), create_account("organiser").email)["accessToken"]
    return Traffic(two, token)


def done_once(traffic: Traffic) -> None:
    """Anyone who got no answer asks again by their key; then everything is there, once."""
    again = [traffic.write(item.key) for item in traffic.unknown]
    assert all(item.id for item in again)
    rows = db.session.execute(text("SELECT name, count(*) FROM event GROUP BY name")).all()
    assert len(rows) == len(traffic.attempts) and {row[1] for row in rows} == {1}


def test_a_node_that_is_taken_out_fails_no_request(two: Pair, traffic: Traffic) -> None:
    first, second = two.nodes
    with traffic.flowing():
        traffic.more()
        two.serve(second)
        first.stop()
        traffic.more()
    log.info(
        f"taken out: {dict(traffic.read)} reads, {len(traffic.acknowledged)} writes, {len(traffic.unknown)} failed"
    )
    assert set(traffic.read) == {200} and not traffic.unknown
    done_once(traffic)


def test_a_node_that_dies_loses_only_its_open_writes(two: Pair, traffic: Traffic) -> None:
    """Nobody took it out first, and it dies busy. What it was reading is read by the other one."""
    with traffic.flowing():
        traffic.more()
        two.nodes[0].hang()
        wait_until(traffic.stuck)
        two.nodes[0].kill()
        traffic.more()
    log.info(f"died: {dict(traffic.read)} reads, {len(traffic.acknowledged)} writes, {len(traffic.unknown)} failed")
    assert set(traffic.read) == {200}
    assert traffic.unknown, "the control: this is how it looks when requests fail"
    done_once(traffic)
