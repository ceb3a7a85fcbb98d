"""What the service depends on: a bill of materials, licences, known vulnerabilities. Each command is run as `make` runs it."""

import json
import os
import re
import subprocess
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from pytest_httpserver import HTTPServer

from app.version import __version__

ROOT = Path(__file__).resolve().parents[2]
LOCKED = re.compile(r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+)", re.M)


def make(target: str, **environment: str) -> CompletedProcess[str]:
    return subprocess.run(
        ["make", "-s", target], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "requirements-observability.txt"])
def test_every_dependency_is_locked_with_hashes(name: str) -> None:
    locked = (ROOT / name).read_text()
    blocks = re.split(r"^(?=[\w.-]+(?:\[[\w,-]+\])?==)", locked, flags=re.M)[1:]
    assert len(blocks) > 10
    assert [block.split()[0] for block in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}", block)] == []


def test_the_bill_of_materials_lists_every_locked_dependency_with_hashes() -> None:
    bill = json.loads(make("sbom").stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["version"] == __version__
    listed = {(component["name"], component["version"]) for component in bill["components"]}
    assert listed == set(LOCKED.findall((ROOT / "requirements.txt").read_text()))
    for component in bill["components"]:
        (source,) = component["externalReferences"]
        assert {item["alg"] for item in source["hashes"]} == {"SHA-256"}


def test_the_page_of_licences_is_fresh() -> None:
    """Rows of dependencies that this machine does not need stay as they are."""
    made = subprocess.run(["make", "-s", "-n", "docs"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    command = re.search(r"\.venv/bin/pip-licenses[^;]*", made)
    assert command
    printed = subprocess.run(command[0].split(), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = {tuple(line.replace(" ", "").split("|")) for line in printed.splitlines() if line.startswith("| ")}
    page = (ROOT / "docs" / "licences.md").read_text()
    assert rows and rows <= {tuple(line.replace(" ", "").split("|")) for line in page.splitlines()}, "run: make docs"


def test_a_licence_that_is_not_allowed_is_an_error() -> None:
    command = [".venv/bin/pip-licenses", "--allow-only", "MIT", "--packages", "flask"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "Flask" in refused.stderr


def test_a_known_vulnerability_fails_the_audit(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/query", method="POST").respond_with_json(
        {"vulns": [{"id": "PYSEC-2026-1", "summary": "", "affected": [], "modified": "2026-01-01T00:00:00Z"}]}
    )
    audit = make("audit", PIP_AUDIT_OSV_URL=httpserver.url_for("/v1/query"))
    assert audit.returncode != 0 and "PYSEC-2026-1" in audit.stdout


def test_the_audit_fails_without_an_answer() -> None:
    assert make("audit", PIP_AUDIT_OSV_URL="http://localhost:1/v1/query").returncode != 0
