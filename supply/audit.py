"""Whether what is locked is what is installed, is licensed as we allow, and has no known hole.

Known holes are asked of a service that speaks the OSV protocol (`OSV_URL`, osv.dev by default). Where it cannot be
reached the audit says so and does not pass: silence is no answer.
"""

import json
import os
from importlib.metadata import PackageNotFoundError, version
from urllib.request import Request, urlopen

from supply.licences import licence_of
from supply.locked import DEVELOPMENT, RUNTIME, Pin, pins

OSV = "https://api.osv.dev"
ALLOWED = (
    "MIT",
    "BSD",
    "Apache",
    "PSF",
    "Python-2.0",
    "ISC",
    "MPL",
    "LGPL",
    "HPND",
    "Unlicense",
    "ZPL",
    "Zlib",
    "0BSD",
    "PostgreSQL",
    "CC0",
    "OFL",
)


def problems(url: str | None = None) -> list[str]:
    """One sentence for each thing that is wrong; none: all is well."""
    runtime = pins(RUNTIME)
    every = list({each.purl: each for each in [*runtime, *pins(DEVELOPMENT)]}.values())
    return [*unlocked(every), *unlicensed(runtime), *holes(every, url or os.environ.get("OSV_URL", OSV))]


def unlocked(found: list[Pin]) -> list[str]:
    """What is installed in another version than the lock file names, or locked without a hash."""
    wrong = [f"{each.name} {each.version} has no hash in the lock file" for each in found if not each.hashes]
    for each in (it for it in found if it.here):
        try:
            here = version(each.name)
        except PackageNotFoundError:
            continue
        if here != each.version:
            wrong.append(f"{each.name} is locked at {each.version}, installed is {here}: make run, make test")
    return wrong


def unlicensed(found: list[Pin]) -> list[str]:
    """What comes under a licence that we do not take."""
    said = {each.name: licence_of(each.name) for each in found if each.here}
    return [f"{name} comes under {it!r}" for name, it in said.items() if it is not None and not allowed(it)]


def allowed(licence: str) -> bool:
    """Whether one of the alternatives, and all that must hold together, begin like a licence that we take."""
    either = licence.replace("(", " ").replace(")", " ").replace(",", " OR ").split(" OR ")
    return any(all(_known(part) for part in each.split(" AND ")) for each in either)


def holes(found: list[Pin], url: str) -> list[str]:
    """Known vulnerabilities of exactly these versions."""
    asked = {"queries": [{"package": {"purl": each.purl}} for each in found]}
    request = Request(f"{url}/v1/querybatch", json.dumps(asked).encode(), {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=30) as answer:
            results = json.load(answer)["results"]
    except (OSError, ValueError, KeyError) as error:
        return [f"known holes could not be asked of {url}: {error}"]
    return [
        f"{pin.name} {pin.version} has a known hole: {', '.join(each['id'] for each in result['vulns'])}"
        for pin, result in zip(found, results, strict=True)
        if result.get("vulns")
    ]


def _known(part: str) -> bool:
    return part.strip().startswith(ALLOWED)
