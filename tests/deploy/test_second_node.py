"""What a second machine takes: no servers of its own, a place for its line in nginx, a wall around the open ports."""

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.proxy import Proxy
from tests.faults.service import ROOT
from tests.waiting import wait_until

DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "scaling.md").read_text()
NFT = shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin")
HERE = "DATABASE_URL='postgresql://eventcommerce@/event_commerce?host=/run/postgresql'\nREDIS_URL='redis://{}6379/0'\n"
THERE = "DATABASE_URL='postgresql://eventcommerce:secret@10.0.0.11/event_commerce?sslmode=require'\n"


@pytest.mark.parametrize(
    ("settings", "servers"),
    [
        (None, "postgresql redis-server"),
        (HERE.format("127.0.0.1:"), "postgresql redis-server"),
        (HERE.format(":secret@localhost:"), "postgresql redis-server"),
        (THERE + "REDIS_URL='redis://:secret@10.0.0.11:6379/0'\n", ""),
        (THERE + "REDIS_URL=redis://127.0.0.1:6379/0\n", "redis-server"),
    ],
)
def test_servers_that_are_elsewhere_are_not_installed(tmp_path: Path, settings: str | None, servers: str) -> None:
    script = (DEPLOY / "install.sh").read_text()
    lines = re.findall(r"^(?:ours\(\) .*|servers=\(\)|! ours .*)$", script, re.M)
    file = tmp_path / "environment"
    if settings is not None:
        file.write_text(settings)
    code = "\n".join([f"settings={file}", *lines, 'echo "${servers[@]}"'])
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True, check=True)
    assert len(lines) == 4 and run.stdout.strip() == servers


class _Node(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # noqa: N802
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["X-Forwarded-For"].encode())

    def log_message(self, *_: object) -> None:
        """Nothing to say."""


def test_a_file_in_nodes_is_another_node(proxied: Callable[..., Any]) -> None:
    """Nobody listens at the socket of this machine: what is answered, the other one has answered."""
    node = HTTPServer(("127.0.0.1", 0), _Node)
    threading.Thread(target=node.serve_forever, daemon=True).start()
    line = printed_node().replace("10.0.0.12:8000", f"127.0.0.1:{node.server_port}")
    with proxied() as site:
        found: Proxy = site
        assert found.ask("/health").status == 502
        (found.folder / "nginx/nodes").mkdir()
        (found.folder / "nginx/nodes/two.conf").write_text(line)
        os.kill(int((found.folder / "nginx.pid").read_text()), signal.SIGHUP)
        wait_until(lambda: found.ask("/health").status == 200)
        assert [found.ask("/health").body for _ in range(4)] == [b"127.0.0.1"] * 4
    node.shutdown()


def printed_node() -> str:
    """The line of nginx that the page has its reader write."""
    found = re.search(r"echo '(server 10\.0\.0\.12:8000 [^']*;)' >/etc/nginx/event-commerce/nodes/", PAGE)
    assert found
    return found[1]


def test_an_upgrade_leaves_the_nodes_alone() -> None:
    """The files of nginx come anew with each; nodes/ is made, and nothing is written into it or taken away."""
    script = (DEPLOY / "site.sh").read_text()
    assert [line for line in script.splitlines() if "/nodes" in line] == [
        'install -d -m 0755 "$etc/event-commerce/snippets" "$etc/event-commerce/nodes"'
    ]
    assert not (DEPLOY / "nginx" / "nodes").exists()


def test_the_web_of_a_second_node_listens_where_the_proxy_asks() -> None:
    """gunicorn takes what systemd hands it and heeds no BIND: the address belongs in a drop-in of the socket."""
    assert "ListenStream=10.0.0.12:8000" in PAGE and "BIND=" not in PAGE
    assert not (DEPLOY / "systemd" / "event-commerce-web.socket.d").exists()


@pytest.mark.skipif(NFT is None and not os.environ.get("CI"), reason="apt-get install nftables")
def test_nft_accepts_the_firewall_rules() -> None:
    run = subprocess.run([NFT or "nft", "-c", "-f", DEPLOY / "nftables" / "event-commerce.nft"], capture_output=True)
    assert run.returncode == 0 or b"Operation not permitted" in run.stderr, run.stderr


def test_the_firewall_closes_the_ports_that_the_page_opens() -> None:
    wall = (DEPLOY / "nftables" / "event-commerce.nft").read_text()
    assert "tcp dport { 5432, 6379, 6432, 8000 } drop" in wall
    assert {"10.0.0.11", "10.0.0.12"} == set(re.findall(r"\d+\.\d+\.\d+\.\d+", wall))


def test_a_node_that_joins_leaves_a_schema_that_the_others_work_with() -> None:
    assert re.findall(r"^\S*event-commerce (db .*)$", (DEPLOY / "install.sh").read_text(), re.M) == ["db expand"]
