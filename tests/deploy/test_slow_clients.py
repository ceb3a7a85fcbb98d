"""Five hundred clients that trickle, and twenty who only want to know what is on."""

import os
import select
import socket
import ssl
import threading
import time

from tests.deploy.load import load
from tests.deploy.proxy import NAME, Proxy, Secure
from tests.timing import timely

TRICKLING = int(os.environ.get("SLOW_CLIENTS") or 500)
CUT_AFTER = 20.0
HEAD = f"GET /health HTTP/1.1\r\nHost: {NAME}\r\nX-Patience: ".encode()


class Trickle:
    """Connections from ten addresses, each of which sends a byte every five seconds and never an end."""

    def __init__(self, site: Proxy, count: int) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.began = time.monotonic()
        self.open: list[socket.socket] = []
        for number in range(count):
            plain = socket.create_connection(("127.0.0.1", site.secure), 10, (f"127.0.1.{1 + number % 10}", 0))
            # Every second one trickles inside TLS, the others never come that far.
            found: socket.socket = context.wrap_socket(plain, server_hostname=NAME) if number % 2 else plain
            found.sendall(HEAD if number % 2 else b"\x16\x03\x01\x02")
            self.open.append(found)
        self.most = 0.0

    def go_on(self) -> None:
        """Until the last of them has been cut."""
        due = time.monotonic() + 5
        while self.open and time.monotonic() - self.began < 2 * CUT_AFTER:
            readable, _, _ = select.select(self.open, [], [], 0.2)
            for each in readable:
                self._look(each)
            if time.monotonic() >= due:
                due += 5
                for each in self.open:
                    self._send(each)

    def _look(self, each: socket.socket) -> None:
        try:
            gone = each.recv(4096) == b""
        except ssl.SSLWantReadError:
            return
        except OSError:
            gone = True
        if gone:
            self.open.remove(each)
            self.most = time.monotonic() - self.began

    def _send(self, each: socket.socket) -> None:
        try:
            each.sendall(b"x")
        except OSError:
            return


def test_the_slow_are_cut_and_the_others_notice_nothing(site: Proxy) -> None:
    with load(site, clients=20, pace=5) as alone:
        time.sleep(2)
    trickle = Trickle(site, TRICKLING)
    meanwhile = threading.Thread(target=trickle.go_on)
    with load(site, clients=20, pace=5) as beside:
        meanwhile.start()
        meanwhile.join(2 * CUT_AFTER)
    assert trickle.open == []
    assert set(alone.answers) == set(beside.answers) == {200}
    timely(trickle.most <= CUT_AFTER, trickle.most)
    timely(beside.rate >= 0.95 * alone.rate, beside.rate, alone.rate)
    timely(beside.percentile(0.99) < max(0.25, 2 * alone.percentile(0.99)))


def begun(site: Proxy, source: str) -> Secure:
    """A client whose body has begun, and does not go on."""
    connection = Secure(site.secure, source)
    connection.putrequest("POST", "/api/auth/login")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "900")
    connection.endheaders(b'{"email":')
    return connection


def test_a_slow_upload_holds_no_thread_of_the_program(site: Proxy) -> None:
    """Sixteen threads, a hundred bodies that never end: the program has not heard of them."""
    sending = [begun(site, f"127.0.2.{1 + number % 10}") for number in range(100)]
    with load(site, clients=8, pace=10) as met:
        time.sleep(1.5)
    for each in sending:
        each.close()
    assert set(met.answers) == {200}
    timely(met.percentile(0.95) < 0.5)


def test_one_client_has_so_many_requests_at_once_and_no_more(site: Proxy) -> None:
    """Fifty from one address that wait for their end; the fifty-first is told to come later."""
    sending = [begun(site, "127.0.3.1") for _ in range(50)]
    time.sleep(0.3)
    assert site.ask("/api/events", source="127.0.3.1").status == 429
    assert site.ask("/health", source="127.0.3.2").status == 200
    for each in sending:
        each.close()
