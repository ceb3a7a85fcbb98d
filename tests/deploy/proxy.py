"""nginx with the files that are shipped; only paths, ports and the account are others."""

import os
import pwd
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from tests.faults.service import ROOT, free_port
from tests.waiting import wait_for_exit

SHIPPED = ROOT / "deploy" / "nginx"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
NAME = "festival.example"
SCRATCH = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class Secure(HTTPSConnection):
    """A connection to the site by its name, from an address of this machine; made anew when the site has closed it."""

    def __init__(self, port: int, source: str = "127.0.0.1", name: str = NAME, timeout: float = 40) -> None:
        super().__init__(name, port, timeout=timeout)
        self.source = source

    def connect(self) -> None:
        plain = socket.create_connection(("127.0.0.1", self.port), self.timeout, (self.source, 0))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.sock = context.wrap_socket(plain, server_hostname=self.host)


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(self.body)
        return found


@dataclass
class Proxy:
    """A running nginx: its ports, its folder, what it has written down."""

    folder: Path
    secure: int
    plain: int

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, *, source: str = "127.0.0.1", **headers: str
    ) -> Answer:
        """The answer over TLS; names of headers have underscores for hyphens."""
        connection = Secure(self.secure, source)
        named = {"Host": NAME} | {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, named)
            return read(connection.getresponse())
        finally:
            connection.close()

    def ask_plainly(self, path: str, host: str = NAME) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.plain, timeout=10)
        try:
            connection.request("GET", path, headers={"Host": host})
            return read(connection.getresponse())
        finally:
            connection.close()

    @property
    def socket(self) -> Path:
        return self.folder / "web.sock"

    @property
    def storage(self) -> Path:
        return self.folder / "storage"

    @property
    def written(self) -> list[dict[str, Any]]:
        """The lines of the access log, once the last answer's is there."""
        time.sleep(0.05)
        return [orjson.loads(line) for line in (self.folder / "log/event-commerce.log").read_bytes().splitlines()]

    @property
    def logs(self) -> str:
        """Everything that nginx has written anywhere."""
        time.sleep(0.05)
        return "\n".join(path.read_text() for path in (self.folder / "log").iterdir())


def read(answer: HTTPResponse) -> Answer:
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def rendered(folder: Path, secure: int, plain: int, **changed: str) -> None:
    """The shipped files in `folder`. `changed`: further replacements, `old=new`; each must be found."""
    for part in ("nginx", "nginx/snippets", "tls", "log", "cache", "storage/media", "acme"):
        (folder / part).mkdir(parents=True)
    account = pwd.getpwuid(os.geteuid()).pw_name
    replaced = {
        "/etc/nginx/event-commerce/": f"{folder}/nginx/",
        "/etc/event-commerce/tls/": f"{folder}/tls/",
        "/opt/event-commerce/current/": f"{ROOT}/",
        "/var/lib/event-commerce/storage": f"{folder}/storage",
        "/var/log/nginx/": f"{folder}/log/",
        "/var/cache/nginx/event-commerce": f"{folder}/cache",
        "/var/www/acme": f"{folder}/acme",
        "/run/event-commerce/web.sock": f"{folder}/web.sock",
        "/run/event-commerce/streams.sock": f"{folder}/streams.sock",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "user www-data;": f"user {account};" if os.geteuid() == 0 else "",
        "worker_rlimit_nofile 32768;": "",
        "http {\n": "http {\n" + "".join(f"    {name}_temp_path {folder}/{name};\n" for name in SCRATCH),
        ":443 ": f":{secure} ",
        "listen 443 ": f"listen {secure} ",
        ":80": f":{plain}",
        "listen 80": f"listen {plain}",
        **changed,
    }
    files = {path.relative_to(SHIPPED): path.read_text() for path in SHIPPED.rglob("*.conf")}
    for old, new in replaced.items():
        assert any(old in text for text in files.values()), f"{old} is in none of the files"
        files = {path: text.replace(old, new) for path, text in files.items()}
    for path, text in files.items():
        (folder / "nginx" / path).write_text(text)


def certificate(folder: Path) -> None:
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    made += ["-subj", f"/CN={NAME}", "-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run(made, check=True, capture_output=True)


@contextmanager
def proxy(**changed: str) -> Iterator[Proxy]:
    """A running nginx; the socket that it asks is `proxy.socket`, for the test to listen at."""
    assert NGINX is not None
    # Below /tmp, because the address of a socket is short.
    with TemporaryDirectory(prefix="ec-") as name:
        folder, secure, plain = Path(name), free_port(), free_port()
        rendered(folder, secure, plain, **changed)
        certificate(folder / "tls")
        command = [NGINX, "-c", f"{folder}/nginx/nginx.conf", "-p", name, "-e", f"{folder}/log/error.log"]
        checked = subprocess.run([*command, "-t", "-q"], capture_output=True, text=True)
        assert checked.returncode == 0 and not checked.stderr, checked.stderr
        process = subprocess.Popen([*command, "-g", "daemon off;"])
        try:
            _until_listening(secure, process)
            yield Proxy(folder, secure, plain)
        finally:
            process.terminate()
            wait_for_exit(process)


def _until_listening(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None
        time.sleep(0.02)
    raise AssertionError("nginx does not listen")
