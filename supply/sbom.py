"""A bill of materials in CycloneDX 1.6, from the lock file alone: the same file gives the same bytes."""

import re
import uuid
from hashlib import sha256
from typing import Any

from supply.licences import licence_of
from supply.locked import ROOT, RUNTIME, Pin, pins

OURSELVES = "event-commerce"


def document() -> dict[str, Any]:
    """The bill, as an object."""
    found = pins()
    version = _version()
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, sha256(RUNTIME.read_bytes()).hexdigest())}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": OURSELVES,
                "name": OURSELVES,
                "version": version,
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [_component(each) for each in found],
        "dependencies": _dependencies(found),
    }


def _version() -> str:
    """That of the newest entry of the changelog."""
    found = re.search(r"^## \[?v?([\w.-]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    return found[1] if found else "0"


def _component(pin: Pin) -> dict[str, Any]:
    licence = licence_of(pin.name) if pin.here else None
    return {
        "type": "library",
        "bom-ref": pin.purl,
        "name": pin.name,
        "version": pin.version,
        "purl": pin.purl,
        **({"licenses": [{"license": {"name": licence}}]} if licence else {}),
        **({"properties": [{"name": "python:marker", "value": pin.marker}]} if pin.marker else {}),
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{pin.name}/{pin.version}/#files",
                "hashes": [{"alg": "SHA-256", "content": each} for each in sorted(pin.hashes)],
            }
        ],
    }


def _dependencies(found: list[Pin]) -> list[dict[str, Any]]:
    refs = {each.name: each.purl for each in found}
    needs: dict[str, set[str]] = {OURSELVES: set(), **{each.purl: set() for each in found}}
    for pin in found:
        for wanted in pin.wanted_by:
            needs[refs.get(wanted, OURSELVES)].add(pin.purl)
    return [{"ref": ref, "dependsOn": sorted(wanted)} for ref, wanted in needs.items()]
