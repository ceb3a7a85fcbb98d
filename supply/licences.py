"""Under which licence each dependency comes, from what it says of itself once installed."""

from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata

from supply.locked import ROOT, Pin, pins

PAGE = ROOT / "docs" / "licences.md"
HEAD = """\
# Licences

What the service needs to run, and under which licence each part comes, from the parts' own metadata. The service itself
is under the [MIT licence](../LICENSE). Made by `make docs`; a test fails when a part comes under anything that is not
permissive or weakly copyleft. Where a part is needed only on some machines, its name says so.

| part | version | licence |
|---|---|---|
"""
# Some say it in other words, some only in a classifier.
SAME = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "GNU Library or Lesser General Public License (LGPL)": "LGPL-3.0-only",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
    "The Unlicense (Unlicense)": "Unlicense",
}


def licence_of(name: str) -> str | None:
    """The licence of an installed package; None when it is not installed here."""
    try:
        return _said(metadata(name))
    except PackageNotFoundError:
        return None


def page() -> str:
    """docs/licences.md as this machine would write it: what is not installed here keeps the row it has."""
    cells = ((line, [each.strip() for each in line.split("|")]) for line in _before() if line.startswith("| "))
    kept = {(cell[1], cell[2]): line + "\n" for line, cell in cells}
    return HEAD + "".join(_row(pin, kept) for pin in pins())


def _row(pin: Pin, kept: dict[tuple[str, str], str]) -> str:
    name = f"{pin.name} (on some machines)" if pin.marker else pin.name
    licence = licence_of(pin.name) if pin.here else None
    if licence is None:
        return kept.get((name, pin.version), f"| {name} | {pin.version} | not installed where this was made |\n")
    return f"| {name} | {pin.version} | {licence} |\n"


def _before() -> list[str]:
    return PAGE.read_text().splitlines() if PAGE.exists() else []


def _said(found: PackageMetadata) -> str:
    classified = [each.rpartition(" :: ")[2] for each in found.get_all("Classifier") or () if "License ::" in each]
    given = [_first_line(found, "License-Expression"), *classified, _first_line(found, "License")]
    said = next((each for each in given if each and each != "OSI Approved"), "not said")
    return SAME.get(said, said)


def _first_line(found: PackageMetadata, name: str) -> str | None:
    """The first line of a header; None when it is absent or empty."""
    lines = "".join(found.get_all(name) or ()).strip().splitlines()
    return lines[0] if lines else None
