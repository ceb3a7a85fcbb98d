"""Container files: they agree with the units, with each other and with the program, and may do nothing they need not.

No engine runs here; docs/deployment.md says what was tried with one.
"""

import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.test_shipped import DEPLOY, service
from tests.faults.service import ROOT

COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {"web": "web@", "streams": "streams", "worker": "worker@", "relay": "relay"}
IMAGE = (DEPLOY / "Containerfile").read_text()
START = DEPLOY / "container-nginx.sh"


def test_containers_run_what_the_units_run() -> None:
    image = re.search(r"^CMD \[(.*)\]", IMAGE, re.M)
    assert image
    for name, unit_name in OURS.items():
        command = service(f"event-commerce-{unit_name}.service")["ExecStart"][0]
        inside = SERVICES[name].get("command") or [word.strip('" ') for word in image[1].split(",")]
        assert command.removeprefix("/opt/event-commerce/current/.venv/bin/") == " ".join(inside)


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_may_do_nothing_it_needs_not(name: str) -> None:
    found = SERVICES[name]
    assert found["read_only"] is True and found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"]
    needed = {"nginx": {"NET_BIND_SERVICE"}, "postgres": {"DAC_OVERRIDE", "FOWNER"}}.get(name)
    assert set(found.get("cap_add", ())) == (needed | {"CHOWN", "SETGID", "SETUID"} if needed else set())
    assert bool(found.get("ports")) == (name == "nginx")


def test_the_image_is_nobody() -> None:
    assert re.search(r"^USER 10001$", IMAGE, re.M)
    assert not re.search(r"^(USER|RUN|COPY)", IMAGE.partition("USER 10001")[2], re.M)


def test_podman_comes_back_after_a_reboot_and_starts_as_many_workers_as_are_named() -> None:
    """podman-restart.service looks for `always` alone; podman-compose reads `replicas` where `mode` stands too."""
    assert {found["restart"] for found in SERVICES.values()} == {"always"}
    assert SERVICES["worker"]["deploy"] == {"mode": "replicated", "replicas": 2}


def test_no_container_waits_for_another() -> None:
    """Podman 4 starts nothing that depends on a container which has ended, nor asks whether another is healthy."""
    assert not [name for name, found in SERVICES.items() if "depends_on" in found]


def test_the_health_of_the_web_is_asked_by_the_engine() -> None:
    """A HEALTHCHECK in the image is left out of images in OCI's format, which Podman builds."""
    assert "HEALTHCHECK" not in IMAGE
    checked = {name for name, found in SERVICES.items() if "healthcheck" in found}
    assert checked == {"web", "streams", "postgres", "redis", "nginx"}


def test_nobody_but_nginx_reaches_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = SERVICES["web"]["environment"]["BIND"]
    monkeypatch.setenv("BIND", bind)
    assert runpy.run_path(str(ROOT / "gunicorn.conf.py"))["bind"] == [
        "unix:/run/event-commerce/web.sock",
        "127.0.0.1:8000",
    ]
    sharing = {name for name, found in SERVICES.items() if "sockets:/run/event-commerce" in found.get("volumes", ())}
    assert sharing == {"web", "streams", "nginx"}
    assert "/run/event-commerce" in IMAGE, "the volume takes its owner from the image"


def test_nginx_asks_the_spare_while_the_web_is_exchanged(tmp_path: Path) -> None:
    """The start's own words, in a folder of ours, without nginx."""
    words = START.read_text().replace("/tmp/nginx", str(tmp_path / "nginx")).replace("exec nginx", "exec true")
    words = words.replace("/opt/event-commerce/current", str(ROOT)).replace("/var/cache", str(tmp_path))
    subprocess.run(["sh", "-c", words], check=True, env={"SITE": "lights.example", "PATH": "/usr/bin:/bin"})
    http = (tmp_path / "nginx/http.conf").read_text()
    upstream = http.partition("upstream event_commerce {")[2].partition("}")[0]
    servers = re.findall(r"^ *server (.*);", upstream, re.M)
    assert servers == ["unix:/run/event-commerce/web.sock max_fails=0"] * 4 + [
        "unix:/run/event-commerce/spare.sock max_fails=0 backup"
    ]
    made = http + (tmp_path / "nginx/site.conf").read_text() + (tmp_path / "nginx/nginx.conf").read_text()
    assert "festival.example" not in made and "/etc/nginx/event-commerce/" not in made
    assert "www-data" not in made and "/var/log/" not in made
    assert "spare.sock" in (DEPLOY / "containers.sh").read_text()


def test_everything_that_the_image_takes_is_there_and_nothing_else_can_get_in() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", IMAGE, re.M)
    taken = set(" ".join(copied).split())
    assert all((ROOT / name).exists() for name in taken)
    ignored = (ROOT / ".dockerignore").read_text().split("\n")
    assert "*" in ignored and {line[1:] for line in ignored if line.startswith("!")} == taken


def test_volumes_are_declared_or_lie_here() -> None:
    for found in SERVICES.values():
        for volume in found.get("volumes", []):
            source = volume.partition(":")[0]
            if source.startswith("."):
                assert source == "./tls" or (DEPLOY / source).exists(), volume
            else:
                assert source in COMPOSE["volumes"], volume


def test_our_image_comes_from_no_registry() -> None:
    assert {SERVICES[name]["image"] for name in OURS} == {"localhost/event-commerce"}
    assert "-t localhost/event-commerce " in (DEPLOY / "containers.sh").read_text()
    assert all(SERVICES[name]["image"].startswith("docker.io/library/") for name in SERVICES if name not in OURS)
