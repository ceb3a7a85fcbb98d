"""Every text can be read: WCAG AA contrast (4.5:1) of each pair that the stylesheets make, light and dark.

A rule that sets text and ground makes one pair. A rule that sets only text may stand on any ground that
leaves the text to others, and a ground of that sort must suit every such text.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

APP = Path(__file__).resolve().parents[2] / "app"
ENOUGH = 4.5
DARK = "@media (prefers-color-scheme: dark)"
INVISIBLE = ("transparent", "none", "inherit", "currentcolor")

Rules = list[tuple[str, dict[str, str]]]
Pair = tuple[str, str, str]
Source = Callable[[], Iterator[tuple[str, Pair]]]


def split(css: str) -> tuple[str, str]:
    """The rules for light, and those inside the dark media query."""
    css = re.sub(r"(?s)/\*.*?\*/", "", css)
    start = css.index(DARK)
    end, depth = css.index("{", start) + 1, 1
    while depth:
        depth += {"{": 1, "}": -1}.get(css[end], 0)
        end += 1
    inner = css[css.index("{", start) + 1 : end - 1]
    return css[:start] + css[end:], inner


def rules(css: str) -> Rules:
    found = re.findall(r"([^{}]+)\{([^{}]*)\}", css)
    return [(selector.strip(), dict(declarations(body))) for selector, body in found]


def declarations(body: str) -> Iterator[tuple[str, str]]:
    for line in body.split(";"):
        name, _, value = line.partition(":")
        if value:
            yield name.strip(), value.replace("!important", "").strip()


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def pairs(found: Rules, tokens: dict[str, str]) -> Iterator[Pair]:
    """(what, text, ground) for each pair; colours resolved through the tokens."""
    texts, grounds = [], []
    for selector, style in found:
        text, ground = resolve(style.get("color"), tokens), resolve(style.get("background"), tokens)
        if text and ground:
            yield selector, text, ground
        elif text:
            texts.append((selector, text))
    for selector, style in found:
        ground = resolve(style.get("background"), tokens)
        body_text = resolve(style.get("color"), tokens) == default_text(found, tokens)
        if ground and (body_text or not style.get("color")):
            grounds.append((selector, ground))
    for selector, text in texts:
        for below, ground in grounds:
            yield f"{selector} on {below}", text, ground


def default_text(found: Rules, tokens: dict[str, str]) -> str | None:
    return next(
        (resolve(style["color"], tokens) for name, style in found if name in ("html", "body") and "color" in style),
        None,
    )


def resolve(value: str | None, tokens: dict[str, str]) -> str | None:
    if not value or value.lower() in INVISIBLE:
        return None
    token = re.fullmatch(r"var\((--[\w-]+)\)", value)
    colour = tokens[token[1]] if token else value
    assert re.fullmatch(r"#[0-9A-Fa-f]{6}", colour), f"{value}: write colours as six hex digits"
    return colour


def page_pairs() -> Iterator[tuple[str, Pair]]:
    light, dark = split((APP / "static" / "pages.css").read_text())
    tokens = dict(rules(light))[":root"]
    for mode, values in (("light", tokens), ("dark", tokens | dict(rules(dark))[":root"])):
        yield from ((f"page, {mode}", pair) for pair in pairs(rules(light), values))
        yield from ((f"gate, {mode}", pair) for pair in pairs(rules(read_gate_css()), values))


def read_gate_css() -> str:
    """The stylesheet of the gate, without its media queries, which set no colours."""
    css = re.sub(r"(?s)/\*.*?\*/", "", (APP / "static" / "gate" / "gate.css").read_text())
    return css.partition("@media")[0]


def mail_pairs() -> Iterator[tuple[str, Pair]]:
    base = (APP / "templates" / "email" / "base.html").read_text()
    style = re.search(r"(?s)<style>(.*?)</style>", base)
    assert style
    light, dark = split(style[1])
    darkened = dict(rules(dark))
    both = [(name, item | darkened.get(name, {})) for name, item in rules(light)]
    for mode, found in (("light", rules(light)), ("dark", both)):
        yield from ((f"mail, {mode}", pair) for pair in pairs(found, {}))


@pytest.mark.parametrize("all_pairs", [page_pairs, mail_pairs])
def test_every_pair_can_be_read(all_pairs: Source) -> None:
    found = list(all_pairs())
    assert len(found) > 20
    weak = [
        f"{where}: {what}: {text} on {ground} is {contrast(text, ground):.2f}"
        for where, (what, text, ground) in found
        if contrast(text, ground) < ENOUGH
    ]
    assert weak == []


@pytest.mark.parametrize("all_pairs", [page_pairs, mail_pairs])
def test_every_light_colour_has_a_dark_one(all_pairs: Source) -> None:
    by_mode: dict[str, set[Pair]] = {}
    for where, pair in all_pairs():
        # Scanners want dark on white, and a verdict has one colour, whatever the mode.
        if pair[0] != ".qr" and not where.startswith("gate"):
            by_mode.setdefault(where, set()).add(pair)
    light, dark = by_mode.values()
    assert light & dark == set()


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") < ENOUGH < contrast("#757575", "#FFFFFF")
