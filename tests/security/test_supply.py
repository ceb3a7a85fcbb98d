"""The lists of what we are made of: fresh, complete, and the audit notices what it is there for."""

import re
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from supply import audit, licences, sbom
from supply.locked import DEVELOPMENT, RUNTIME, Pin, pins

PIN = Pin("flask", "3.1.3", None, ["0" * 64])


def test_every_part_that_is_locked_is_read_with_its_hashes() -> None:
    for file in (RUNTIME, DEVELOPMENT):
        found = pins(file)
        assert len(found) == len(re.findall(r"^[\w.-]+(?:\[[\w,-]+\])?==", file.read_text(), re.M)) > 40
        assert all(item.hashes and item.wanted_by for item in found)
        assert all(re.fullmatch("[0-9a-f]{64}", hash_) for pin in found for hash_ in pin.hashes)


def test_the_list_of_licences_is_fresh_and_all_are_allowed() -> None:
    assert licences.PAGE.read_text() == licences.page(), "run: make docs"
    assert audit.unlicensed(pins()) == []


@pytest.mark.parametrize(
    ("licence", "taken"),
    [
        ("MIT", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        ("LGPL-3.0-only", True),
        ("GPL-3.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("MIT AND GPL-2.0-only", False),
        ("GPL-2.0-only OR MIT", True),
        ("not said", False),
        ("Proprietary", False),
    ],
)
def test_a_licence_that_we_do_not_take_is_noticed(licence: str, taken: bool) -> None:
    assert audit.allowed(licence) is taken


def test_the_bill_of_materials_holds_every_part_with_its_hashes_and_who_needs_it() -> None:
    bill = sbom.document()
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    assert bill["metadata"]["component"]["bom-ref"] == sbom.OURSELVES
    refs = [component["bom-ref"] for component in bill["components"]]
    assert refs == [pin.purl for pin in pins()] and len(set(refs)) == len(refs)
    for component in bill["components"]:
        assert component["type"] == "library" and component["name"] and component["version"]
        (files,) = component["externalReferences"]
        assert files["type"] == "distribution" and files["url"].startswith("https://") and files["hashes"]
        assert {it["alg"] for it in files["hashes"]} == {"SHA-256"}
    edges = {dependency["ref"]: dependency["dependsOn"] for dependency in bill["dependencies"]}
    assert set(edges) == {sbom.OURSELVES, *refs} and {to for edge in edges.values() for to in edge} == set(refs)
    assert "pkg:pypi/flask@3.1.3" in edges[sbom.OURSELVES]
    assert sbom.document() == bill


def test_what_is_installed_is_what_is_locked() -> None:
    assert audit.unlocked(pins()) == []
    assert audit.unlocked([Pin("flask", "0.1", None)]) == [
        "flask 0.1 has no hash in the lock file",
        "flask is locked at 0.1, installed is 3.1.3: make run, make test",
    ]


def test_a_known_hole_is_told(httpserver: HTTPServer) -> None:
    answers = {"results": [{}, {"vulns": [{"id": "PYSEC-2026-1"}]}]}
    httpserver.expect_oneshot_request("/v1/querybatch", method="POST").respond_with_json(answers)
    found = audit.holes([PIN, Pin("jinja2", "3.1.6", None)], httpserver.url_for("").rstrip("/"))
    assert found == ["jinja2 3.1.6 has a known hole: PYSEC-2026-1"]
    sent = httpserver.log[0][0].get_json()
    assert sent["queries"][0] == {"package": {"purl": "pkg:pypi/flask@3.1.3"}}


def test_silence_is_no_answer(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/v1/querybatch").respond_with_data("away", status=503)
    assert "could not be asked" in audit.holes([PIN], httpserver.url_for("").rstrip("/"))[0]
    assert "could not be asked" in audit.holes([PIN], "http://localhost:1")[0]
