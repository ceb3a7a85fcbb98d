"""The program is exchanged under load, in the order of deploy/upgrade.sh, and nobody notices."""

import os
import re
import signal
import socket
import subprocess
import time

import pytest
from flask import Flask

from tests.deploy.load import load
from tests.deploy.proxy import Proxy
from tests.deploy.upstreams import Web, listening
from tests.faults.service import ROOT
from tests.timing import assert_in_time
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

QUICK = {"rate=200r/s": "rate=100000r/s"}
KILLS = 3


class Machine:
    """The proxy, the socket that systemd holds, and main."""

    def __init__(self, app: Flask, site: Proxy, listener: socket.socket | None) -> None:
        self.app, self.site, self.listener = app, site, listener
        self.main = self.another()

    def another(self) -> Web:
        own = {} if self.listener else {"BIND": f"unix:{self.site.socket}"}
        return Web(self.app, self.site.folder, self.listener, **own)

    def restart(self) -> None:
        self.main.stop()
        self.main = self.another()


def test_the_program_is_exchanged_and_no_request_fails(application: Flask, proxied: type) -> None:
    with proxied(**QUICK) as site, listening(site.socket) as listener:
        machine = Machine(application, site, listener)
        # An upgrade: a spare on the same socket, then main anew, then the spare goes.
        with load(site) as upgraded:
            spare = machine.another()
            machine.restart()
            spare.stop()
        # `systemctl restart` alone: anyone who comes meanwhile waits.
        with load(site) as restarted:
            machine.restart()
        machine.main.stop()
    assert set(upgraded.answers) == set(restarted.answers) == {200}, (upgraded.answers, restarted.answers)
    assert upgraded.answers[200] > 200
    assert_in_time(upgraded.percentile(0.99) < restarted.percentile(1))


@pytest.mark.control
def test_without_the_socket_of_systemd_requests_fail(application: Flask, proxied: type) -> None:
    """The control: gunicorn makes the socket itself, and takes it along when it goes."""
    with proxied(**QUICK) as site:
        machine = Machine(application, site, None)
        with load(site) as met:
            machine.restart()
        machine.main.stop()
    assert met.answers[502] > 10, met.answers


def test_new_workers_of_the_same_version_fail_no_request(served: tuple[Proxy, Web]) -> None:
    """`systemctl reload`, twice."""
    site, main = served
    with load(site) as met:
        for _ in range(2):
            main.process.send_signal(signal.SIGHUP)
            time.sleep(0.7)
    assert set(met.answers) == {200}, met.answers


def test_killed_workers_cost_readers_next_to_nothing(served: tuple[Proxy, Web]) -> None:
    """What a busy thread leaves unanswered is asked again. Now and then a worker dies with an answer that has begun,
    which breaks off (0), or with one that may not be repeated, which would be told 502."""
    site, main = served
    with load(site) as met:
        for _ in range(KILLS):
            wait_until(lambda: len(_workers(main)) == 2)
            os.kill(_workers(main)[0], signal.SIGKILL)
            time.sleep(0.4)
        wait_until(lambda: len(_workers(main)) == 2)
    assert set(met.answers) <= {200, 502, 0} and met.answers.total() - met.answers[200] <= 1, met.answers


def _workers(main: Web) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(main.process.pid)], capture_output=True, text=True)
    return [int(part) for part in found.stdout.split()]


def test_the_script_goes_the_way_that_is_tested_here() -> None:
    script = (ROOT / "deploy" / "upgrade.sh").read_text()
    steps = re.findall(
        r"^(?:systemctl (\w+) event-commerce-web@(\w+)|.*(db expand)|.*restart ('event.*'))", script, re.M
    )
    found = [" ".join(part for part in step if part) for step in steps]
    assert [item for item in found if "@*" not in item] == ["db expand", "start spare", "restart main", "stop spare"]
