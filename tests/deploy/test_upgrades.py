"""The program is exchanged under load, in the order of deploy/upgrade.sh, and nobody notices."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest
from flask import Flask

from tests.deploy.load import Load, load
from tests.deploy.proxy import Proxy, proxy
from tests.deploy.upstreams import Web, listening
from tests.faults.cluster import wait_until
from tests.faults.service import ROOT

QUICK = {"rate=200r/s": "rate=100000r/s"}


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


@pytest.fixture(scope="module")
def machine(application: Flask) -> Iterator[Machine]:
    with proxy(**QUICK) as site, listening(site.socket) as listener:
        found = Machine(application, site, listener)
        yield found
        found.main.stop()


def test_an_upgrade_fails_no_request(machine: Machine) -> None:
    """A spare on the same socket, then main anew, then the spare goes: as systemd does it."""
    with load(machine.site) as met:
        spare = machine.another()
        machine.restart()
        spare.stop()
    assert set(met.answers) == {200}, met.answers
    assert met.answers[200] > 300 and met.percentile(0.99) < 1


def test_a_restart_alone_makes_requests_wait_and_fails_none(machine: Machine) -> None:
    with load(machine.site) as met:
        machine.restart()
    assert set(met.answers) == {200}, met.answers


def test_without_the_socket_of_systemd_requests_fail(application: Flask, proxied: type) -> None:
    """The control: gunicorn makes the socket itself, and takes it along when it goes."""
    with proxied(**QUICK) as site:
        machine = Machine(application, site, None)
        with load(site) as met:
            machine.restart()
        machine.main.stop()
    assert met.answers[502] > 10, met.answers


def test_new_workers_of_the_same_version_fail_no_request(machine: Machine) -> None:
    """`systemctl reload`, twice."""
    with load(machine.site) as met:
        for _ in range(2):
            machine.main.process.send_signal(signal.SIGHUP)
            time.sleep(0.7)
    assert set(met.answers) == {200}, met.answers


def test_a_killed_worker_costs_its_own_requests_at_most(machine: Machine) -> None:
    """A busy thread's answer is lost, and the proxy asks again for what may be repeated."""
    with load(machine.site) as met:
        for _ in range(3):
            wait_until(lambda: len(_workers(machine.main)) == 2, 10)
            os.kill(_workers(machine.main)[0], signal.SIGKILL)
            time.sleep(0.4)
        wait_until(lambda: len(_workers(machine.main)) == 2, 10)
    _few_failed(met)


def _workers(main: Web) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(main.process.pid)], capture_output=True, text=True)
    return [int(each) for each in found.stdout.split()]


def _few_failed(met: Load) -> None:
    failed = sum(count for status, count in met.answers.items() if status != 200)
    assert failed <= 0.02 * met.answers.total(), met.answers


def test_the_script_goes_the_way_that_is_tested_here() -> None:
    script = (ROOT / "deploy" / "upgrade.sh").read_text()
    steps = re.findall(r"^(?:systemctl (\w+) event-commerce-web@(\w+)|.*(db upgrade)|.*restart ('event.*'))", script, re.M)
    found = [" ".join(part for part in step if part) for step in steps]
    assert [each for each in found if "@*" not in each] == ["db upgrade", "start spare", "restart main", "stop spare"]
