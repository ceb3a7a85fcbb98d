"""Eight hundred clients that are never done, and twenty who only want to know what is on."""

import time

import pytest

from tests.deploy.load import load
from tests.deploy.proxy import Proxy
from tests.deploy.slow import CUT_AFTER, SlowUploads, slow_clients
from tests.timing import assert_in_time

pytestmark = pytest.mark.slow


@pytest.mark.timeout(300)
def test_the_slow_are_cut_and_the_others_notice_nothing(site: Proxy) -> None:
    with load(site, clients=20, pace=5) as alone:
        time.sleep(2)
    with load(site, clients=20, pace=5) as beside:
        slow = slow_clients(site.secure)
    assert_in_time([item.left for item in slow.values()] == [0, 0, 0], slow)
    assert set(alone.answers) == set(beside.answers) == {200}
    assert_in_time(max(item.most for item in slow.values()) <= CUT_AFTER, slow)
    assert_in_time(beside.rate >= 0.8 * alone.rate, beside.rate, alone.rate)
    assert_in_time(beside.percentile(0.99) < max(0.5, 3 * alone.percentile(0.99)))


def test_a_slow_upload_holds_no_thread_of_the_program(site: Proxy) -> None:
    """Sixteen threads, a hundred bodies that never end: the program has not heard of them."""
    sending = SlowUploads(site.secure, 100)
    with load(site, clients=8, pace=10) as met:
        time.sleep(1.5)
    sending.close()
    assert set(met.answers) == {200}
    assert_in_time(met.percentile(0.95) < 0.5)


class OneUploader(SlowUploads):
    network, addresses = "127.0.3", 1


def test_one_client_has_so_many_requests_at_once_and_no_more(site: Proxy) -> None:
    """Fifty from one address that wait for their end; the fifty-first is told to come later."""
    sending = OneUploader(site.secure, 50)
    time.sleep(0.3)
    assert site.ask("/api/events", source="127.0.3.1").status == 429
    assert site.ask("/health", source="127.0.3.2").status == 200
    sending.close()
