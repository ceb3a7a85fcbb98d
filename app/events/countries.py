"""Countries and their time zones, from the tables of the tz database."""

from functools import cache
from importlib.resources import files
from zoneinfo import available_timezones

from app.events.search_words import folded

# The table lists a country's zones by geography; most people live in these.
MAIN_ZONES = {
    "AU": "Australia/Sydney",
    "BR": "America/Sao_Paulo",
    "CA": "America/Toronto",
    "RU": "Europe/Moscow",
}
# Names that people write and the table lacks.
OTHER_NAMES = {
    "uk": "GB",
    "united kingdom": "GB",
    "great britain": "GB",
    "england": "GB",
    "usa": "US",
    "united states of america": "US",
    "america": "US",
    "south korea": "KR",
    "north korea": "KP",
    "korea": "KR",
    "czechia": "CZ",
    "ivory coast": "CI",
    "cote d ivoire": "CI",
    "dr congo": "CD",
    "congo": "CG",
    "democratic republic of the congo": "CD",
    "republic of the congo": "CG",
    "the gambia": "GM",
    "the netherlands": "NL",
    "holland": "NL",
    "eswatini": "SZ",
    "swaziland": "SZ",
    "cape verde": "CV",
    "cabo verde": "CV",
    "turkiye": "TR",
    "burma": "MM",
    "vatican": "VA",
    "uae": "AE",
    "russian federation": "RU",
    "bosnia and herzegovina": "BA",
    "north macedonia": "MK",
    "macedonia": "MK",
    "hong kong": "HK",
    "macau": "MO",
    "samoa": "WS",
    "saint helena": "SH",
    "palestine": "PS",
    "laos": "LA",
    "vietnam": "VN",
    "east timor": "TL",
    "timor leste": "TL",
    "tanzania": "TZ",
    "syria": "SY",
    "taiwan": "TW",
    "brunei": "BN",
}
NOT_PLACES = frozenset({"Factory", "localtime", "posixrules"})


def country_code(text: str) -> str | None:
    """The ISO 3166 alpha-2 code of a country by its code or English name; None when there is no such country."""
    if text.upper() in _zones_of_countries() and len(text) == 2:
        return text.upper()
    return _countries_by_name().get(folded(text))


def main_zone(country: str) -> str:
    """The time zone of most people of a country."""
    return MAIN_ZONES.get(country) or _zones_of_countries()[country]


def is_zone(name: str) -> bool:
    """Whether the tz database has a zone of that name."""
    return name in _zones()


@cache
def list_countries() -> list[tuple[str, str]]:
    """Code and English name of every country with a time zone, by name."""
    rows = [(code, name) for code, name, *_ in _read_table("iso3166.tab") if code in _zones_of_countries()]
    return sorted(rows, key=lambda row: folded(row[1]))


@cache
def list_zones() -> list[str]:
    """The names of all time zones."""
    return sorted(_zones())


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones() - NOT_PLACES)


@cache
def _zones_of_countries() -> dict[str, str]:
    zones: dict[str, str] = {"BV": "Europe/Oslo", "HM": "Indian/Maldives"}
    for code, _, zone, *_ in _read_table("zone.tab"):
        zones.setdefault(code, zone)
    return zones


@cache
def _countries_by_name() -> dict[str, str]:
    names = {folded(name): code for code, name, *_ in _read_table("iso3166.tab")}
    without_notes = {folded(name.partition("(")[0]): code for code, name, *_ in _read_table("iso3166.tab")}
    return {**without_notes, **names, **OTHER_NAMES}


def _read_table(name: str) -> list[list[str]]:
    lines = (files("tzdata") / "zoneinfo" / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]
