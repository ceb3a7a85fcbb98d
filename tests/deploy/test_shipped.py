"""Scripts and units: they parse, and they agree with the program and with each other."""

import configparser
import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from app import config
from tests.faults.service import ROOT
from tests.settings import SECRET_KEY

DEPLOY = ROOT / "deploy"
SCRIPTS = sorted(DEPLOY.glob("*.sh"))
UNITS = sorted((DEPLOY / "systemd").glob("event-commerce*.*"))
WHOLE = bool(os.environ.get("CI"))
HARDENED = (
    "NoNewPrivileges",
    "ProtectSystem",
    "ProtectHome",
    "PrivateTmp",
    "PrivateDevices",
    "RestrictNamespaces",
    "MemoryDenyWriteExecute",
    "LockPersonality",
    "RestrictAddressFamilies",
    "SystemCallFilter",
    "PrivateUsers",
)


def unit(path: Path) -> dict[str, dict[str, list[str]]]:
    """Sections, names, and every value of a name in its order."""
    found: dict[str, dict[str, list[str]]] = {}
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(section, {}).setdefault(name, []).append(value)
    return found


def service(name: str) -> dict[str, list[str]]:
    return unit(DEPLOY / "systemd" / name)["Service"]


@pytest.mark.skipif(not shutil.which("shellcheck") and not WHOLE, reason="shellcheck is not installed")
def test_scripts_are_clean() -> None:
    run = subprocess.run(["shellcheck", "-x", "-P", ROOT, *SCRIPTS], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_says_what_it_does_and_stops_at_the_first_failure(script: Path) -> None:
    text = script.read_text()
    assert re.search(r"^# \S.{40}", text, re.M)
    if text.startswith("#!"):
        assert re.search(r"^set -e", text, re.M) and os.access(script, os.X_OK)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    for path in UNITS:
        if path.is_file():
            text = re.sub(r"^(Exec\w+)=.*", r"\1=/bin/true", path.read_text(), flags=re.M)
            (tmp_path / path.name).write_text(text)
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *tmp_path.glob("*.*")],
        capture_output=True,
        text=True,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
    )
    assert not [line for line in run.stderr.splitlines() if "event-commerce" in line], run.stderr


def test_every_service_is_hardened_and_comes_again() -> None:
    everywhere = service("event-commerce-.service.d/hardening.conf")
    assert not set(HARDENED) - set(everywhere)
    assert everywhere["User"] == ["eventcommerce"] and everywhere["CapabilityBoundingSet"] == [""]
    for name in ("web@", "streams", "worker@", "relay"):
        found = service(f"event-commerce-{name}.service")
        assert found["Restart"] == ["always"] and found["TimeoutStopSec"] == ["40"]


@pytest.mark.parametrize("name", ["nginx", "postgresql@", "pgbouncer"])
def test_what_debian_leaves_down_is_started_again(name: str) -> None:
    assert service(f"{name}.service.d/event-commerce.conf")["Restart"][0] in ("always", "on-failure")


def test_stops_are_given_longer_than_the_program_takes() -> None:
    gunicorn = runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    program = (DEPLOY / "nginx/snippets/program.conf").read_text()
    http = (DEPLOY / "nginx/http.conf").read_text()
    assert int(service("event-commerce-web@.service")["TimeoutStopSec"][0]) > gunicorn["graceful_timeout"]
    waited = re.search(r"proxy_read_timeout (\d+)s", program)
    kept = re.search(r"keepalive_timeout (\d+)s;\n    keepalive_requests 100000", http)
    assert waited and int(waited[1]) > gunicorn["timeout"]
    assert kept and int(kept[1]) < gunicorn["keepalive"]


@pytest.mark.parametrize("name", ["environment.example", "compose.env.example"])
def test_the_examples_of_settings_are_settings(name: str) -> None:
    known = {item for item, _, _ in config.table()} | {"SITE", "POSTGRES_PASSWORD"}
    given = re.findall(r"^#?([A-Z_]+)=(.*)$", (DEPLOY / name).read_text(), re.M)
    assert not {item for item, _ in given} - known
    secrets = [value for item, value in given if item in ("SECRET_KEY", "BOOTSTRAP_SECRET", "POSTGRES_PASSWORD")]
    assert secrets and not any(value.strip("'") for value in secrets), "no secret is shipped"


def test_production_starts_with_the_example_once_it_is_filled_in() -> None:
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string("[all]\n" + (DEPLOY / "environment.example").read_text())
    values = {name: value.strip("'") for name, value in parser["all"].items()}
    settings = config.load({**values, "SECRET_KEY": SECRET_KEY})
    assert settings.production and settings.PROXY_HOPS == 1
    assert settings.TRUSTED_HOSTS == ["festival.example", "localhost", "127.0.0.1"]
    with pytest.raises(config.SettingsError, match="SECRET_KEY"):
        config.load(values)


def test_the_command_reads_files_of_its_caller(tmp_path: Path) -> None:
    """The account of the service cannot look into root's home: it gets copies, for as long as the command runs."""
    programs, here, stage = tmp_path / "bin", tmp_path / "home", tmp_path / "run"
    for folder in (programs, here, stage):
        folder.mkdir()
    (programs / "chown").write_text("#!/bin/sh\n")
    (programs / "systemd-run").write_text('#!/bin/bash\nprintf \'%s\\n\' "${@: -4}"; cat "${@: -2:1}"; exit 3\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    (here / "takings.csv").write_text("reference")
    (here / "settle").write_text("a file that is called like a word")
    run = subprocess.run(
        [DEPLOY / "event-commerce.sh", "ledger", "settle", "takings.csv", "--dry-run"],
        cwd=here,
        capture_output=True,
        text=True,
        env={"PATH": f"{programs}:{os.environ['PATH']}", "EVENT_COMMERCE_STAGE": str(stage)},
    )
    assert run.returncode == 3, run.stderr
    ledger, settle, file, dry, inside = run.stdout.splitlines()
    assert (ledger, settle, dry, inside) == ("ledger", "settle", "--dry-run", "reference")
    assert Path(file).name == "takings.csv" and stage in Path(file).parents
    assert not list(stage.iterdir())


@pytest.mark.parametrize("written", ["'file:///srv/other'", "file:///srv/other", "'file:///srv/other?x=1'"])
def test_pictures_come_from_the_folder_that_the_settings_name(tmp_path: Path, written: str) -> None:
    script = (DEPLOY / "site.sh").read_text()
    lines = re.findall(r"^(?:folder=|\[ -z \"\$folder).*$", script, re.M)
    settings, etc = tmp_path / "environment", tmp_path / "etc"
    (etc / "event-commerce").mkdir(parents=True)
    site = shutil.copy(DEPLOY / "nginx" / "site.conf", etc / "event-commerce")
    settings.write_text(f"DATA_DIR='/var/lib/event-commerce'\nSTORAGE_URL={written}\n")
    code = "\n".join(lines).replace("/etc/event-commerce/environment", str(settings))
    subprocess.run(["bash", "-euo", "pipefail", "-c", f"etc={etc}\n{code}"], check=True)
    assert len(lines) == 2 and "root /srv/other;" in Path(site).read_text()


@pytest.mark.parametrize(("counts", "stays"), [("0 0 0 0", True), ("0 0 1 1", False)])
def test_workers_that_fall_at_once_are_noticed(tmp_path: Path, counts: str, stays: bool) -> None:
    """systemd starts them again and again, and calls each start a success: an upgrade looks at how often."""
    function = re.search(r"^stay\(\) \{$.*?^\}$", (DEPLOY / "upgrade.sh").read_text(), re.M | re.S)
    assert function
    (tmp_path / "counts").write_text("\n".join(counts.split() * 8))
    code = f"""
systemctl() {{ if [ "$1" = show ]; then head -n 1 counts; sed -i 1d counts; else echo "a.service loaded active"; fi; }}
sleep() {{ :; }}
{function[0]}
stay 'event-commerce-worker@*'"""
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", code], cwd=tmp_path)
    assert (run.returncode == 0) is stays
