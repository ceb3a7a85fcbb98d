"""Two nodes behind one nginx, as `deploy/` has it: each a gunicorn with a folder of its own; one may be taken out."""

import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import orjson

from app.config import Settings
from tests.deploy.proxy import Answer, Proxy, proxy, read
from tests.factories.events import build_event_body
from tests.faults.service import OURS, ROOT, WEB, free_port, kept_open, until_ready
from tests.leaks.ledger import RUN
from tests.settings import BOOTSTRAP_SECRET, SECRET_KEY
from tests.topology.writers import Attempt, Writers
from tests.waiting import wait_for_exit, wait_until

WRITERS = 2
LINE = re.compile(r"^    server .*\n", re.M)


class Node:
    """gunicorn of one machine."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.port, self.folder = free_port(), folder
        folder.mkdir()
        self.variables = {
            "DATABASE_URL": settings.DATABASE_URL,
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": SECRET_KEY,
            "BOOTSTRAP_SECRET": BOOTSTRAP_SECRET,
            "PUBLIC_BASE_URL": settings.PUBLIC_BASE_URL,
            "PROXY_HOPS": "1",
            "PORT": str(self.port),
            "DATA_DIR": str(folder),
            "RATE_LIMIT_SCALE": "1000",
            "LOG_LEVEL": "error",
            "WEB_WORKERS": "1",
        }
        self.start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, sent: Any = None, **headers: str) -> Answer:
        """The answer of this node; names of headers have underscores for hyphens."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        named = {name.replace("_", "-"): value for name, value in headers.items()} | {
            "Content-Type": "application/json"
        }
        with closing(connection):
            connection.request(method, path, orjson.dumps(sent) if sent is not None else None, named)
            return read(connection.getresponse())

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in OURS} | self.variables
        with (self.folder / "log").open("ab") as output:
            self.process = subprocess.Popen(
                WEB, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    def ready(self) -> None:
        until_ready(self.base, self.process, self.folder / "log")

    def kill(self) -> None:
        """As when its machine is gone."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def hang(self) -> None:
        os.killpg(self.process.pid, signal.SIGSTOP)

    def stop(self) -> None:
        """As `systemctl stop`: what was begun is answered."""
        self.process.terminate()
        assert wait_for_exit(self.process) == 0


@dataclass
class Pair:
    """The nodes, and nginx before those that are not taken out."""

    nodes: list[Node]
    proxy: Proxy
    served: list[Node] = field(default_factory=list)

    def whole(self) -> None:
        """Both there again, whatever was done to them."""
        absent = [node for node in self.nodes if node.process.poll() is not None]
        for item in absent:
            item.start()
        for item in absent:
            item.ready()
        if self.served != self.nodes:
            self.serve(*self.nodes)

    def serve(self, *nodes: Node) -> None:
        """nginx goes on with these alone; what it has begun with others is answered."""
        file = self.proxy.folder / "nginx" / "http.conf"
        self.served = list(nodes)
        lines = "".join(f"    server 127.0.0.1:{node.port} max_fails=2 fail_timeout=5s;\n" for node in nodes)
        text = file.read_text()
        first = LINE.search(text)
        assert first
        # The next upstream, of event streams, stays as it is.
        end = text.index("}", first.start())
        file.write_text(text[: first.start()] + lines + LINE.sub("", text[first.start() : end]) + text[end:])
        before = self._workers()
        os.kill(int((self.proxy.folder / "nginx.pid").read_text()), signal.SIGHUP)
        wait_until(lambda: not before & self._workers())

    def _workers(self) -> set[str]:
        master = (self.proxy.folder / "nginx.pid").read_text().strip()
        return set(subprocess.run(["pgrep", "-P", master], capture_output=True, text=True).stdout.split())


@contextmanager
def two_nodes(settings: Settings) -> Iterator[Pair]:
    with kept_open() as folder, ExitStack() as stack:
        nodes = [Node(settings, folder / name) for name in ("one", "two")]
        for node in nodes:
            stack.callback(node.kill)
        site = Pair(nodes, stack.enter_context(proxy(**{"rate=200r/s": "rate=100000r/s"})))
        for node in nodes:
            node.ready()
        yield site
        for node in nodes:
            for line in (node.folder / "log").read_text(errors="replace").splitlines():
                RUN.note(line)


class Traffic(Writers):
    """Writers and readers through nginx, each request on a connection of its own; `read` counts what readers met."""

    def __init__(self, site: Pair, token: str) -> None:
        super().__init__("", token)
        self.proxy, self.read = site.proxy, Counter[int]()
        self.under_way: dict[str, float] = {}

    def write(self, key: str) -> Attempt:
        self.under_way[key] = began = time.monotonic()
        sent = {"Content_Type": "application/json", "Authorization": f"Bearer {self.token}", "Idempotency_Key": key}
        answer = self._asked("POST", "/api/events", orjson.dumps(build_event_body(name=key)), **sent)
        made = answer.json["data"]["id"] if answer and answer.status == 201 else None
        del self.under_way[key]
        return Attempt(key, made, began, time.monotonic())

    def stuck(self, seconds: float = 0.7) -> bool:
        """Whether both writers have been waiting for an answer for so long."""
        since = time.monotonic() - seconds
        return len([began for began in list(self.under_way.values()) if began < since]) == WRITERS

    @contextmanager
    def flowing(self, readers: int = 2) -> Iterator[None]:
        ended = threading.Event()

        def go() -> None:
            while not ended.wait(0.01):
                answer = self._asked("GET", "/api/auth/me", None, Authorization=f"Bearer {self.token}")
                self.read[answer.status if answer else 0] += 1

        threads = [threading.Thread(target=go, daemon=True) for _ in range(readers)]
        for thread in threads:
            thread.start()
        try:
            with self.writing(WRITERS):
                yield
        finally:
            ended.set()
            for thread in threads:
                thread.join(90)

    def more(self, requests: int = 20) -> None:
        """Returns after so many further reads."""
        before = self.read.total()
        wait_until(lambda: self.read.total() >= before + requests)

    def _asked(self, method: str, path: str, sent: bytes | None, **headers: str) -> Answer | None:
        with suppress(OSError, HTTPException):
            return self.proxy.ask(path, method, sent, **headers)
        return None
