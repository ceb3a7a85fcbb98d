"""Right-to-left text for PDFs: Arabic letters in their joined forms, and lines in visual order.

A PDF draws letters from left to right. `join_arabic` chooses the form of each Arabic letter before a line is measured
and broken; `to_visual_order` reorders a finished line.

It follows Unicode's rules for weak and neutral characters (UAX #9: P2, W1–W7, N1–N2, I1–I2, L1–L4) without embeddings,
isolates and paired brackets, whose control characters are removed before.
"""

import unicodedata
from functools import cache

STRONG = ("L", "R", "AL")
NEUTRAL = ("B", "S", "WS", "ON", "ES", "ET", "CS", "BN")
FORMS = {"<isolated>": 0, "<final>": 1, "<initial>": 2, "<medial>": 3}
LAM, ALEFS, TATWEEL, BREAK, JOIN = "\u0644", "\u0622\u0623\u0625\u0627", "\u0640", "\u200c", "\u200d"
MIRRORED = dict(zip("()[]{}<>«»‹›≤≥", ")(][}{><»«›‹≥≤", strict=True))


def is_right_to_left(text: str) -> bool:
    """Whether the text contains letters of a right-to-left script."""
    return not text.isascii() and any(
        "\u0590" <= letter <= "\u08ff" or "\ufb1d" <= letter <= "\ufeff" for letter in text
    )


def join_arabic(text: str) -> str:
    """Return the text, still in logical order, with Arabic letters in the form that their neighbours require."""
    if not is_right_to_left(text):
        return text
    text = _join_lam_alef(text)
    shaped = []
    for at, letter in enumerate(text):
        before, after = _neighbour(text, at, -1), _neighbour(text, at, 1)
        form = _joins(before, 2) * _joins(letter, 1) + 2 * (_joins(letter, 2) * _joins(after, 1))
        shaped.append(_forms().get(letter, {}).get(form, letter))
    return "".join(letter for letter in shaped if letter not in (BREAK, JOIN))


def to_visual_order(line: str) -> str:
    """Return the line in the order in which it is drawn."""
    if not is_right_to_left(line):
        return line
    clusters = _split_clusters(line)
    levels = _levels([unicodedata.bidirectional(cluster[0]) for cluster in clusters])
    order = list(range(len(clusters)))
    for level in range(max(levels), 0, -1):
        order = _reverse_runs(order, levels, level)
    return "".join(MIRRORED.get(clusters[at], clusters[at]) if levels[at] % 2 else clusters[at] for at in order)


@cache
def _forms() -> dict[str, dict[int, str]]:
    """Return the forms of each letter by number: 1 joins the letter before, 2 the letter after, 3 both."""
    forms_by_letter: dict[str, dict[int, str]] = {}
    for code in [*range(0xFE80, 0xFEFD), *range(0xFB50, 0xFBB2), *range(0xFBD3, 0xFC00)]:
        kind, *letters = unicodedata.decomposition(chr(code)).split() or [""]
        if kind in FORMS:
            letter = "".join(chr(int(digits, 16)) for digits in letters)
            forms_by_letter.setdefault(letter, {})[FORMS[kind]] = chr(code)
    return forms_by_letter | {forms[0]: forms for pair, forms in forms_by_letter.items() if len(pair) == 2}


def _join_lam_alef(text: str) -> str:
    """Return the text with each lam and alef as one letter, in its isolated form."""
    for alef in ALEFS:
        text = text.replace(LAM + alef, _forms()[LAM + alef][0])
    return text


def _joins(letter: str, side: int) -> bool:
    """Whether a letter joins the letter before (1) or after (2) it."""
    return letter in (TATWEEL, JOIN) or side in _forms().get(letter, {})


def _neighbour(text: str, at: int, step: int) -> str:
    """Return the next letter in that direction, without vowel signs."""
    at += step
    while 0 <= at < len(text) and unicodedata.bidirectional(text[at]) == "NSM":
        at += step
    return text[at] if 0 <= at < len(text) else ""


def _split_clusters(line: str) -> list[str]:
    """Return the letters of the line, each with the signs above and below it."""
    clusters: list[str] = []
    for letter in line:
        if clusters and unicodedata.bidirectional(letter) == "NSM":
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


def _levels(kinds: list[str]) -> list[int]:
    base = next((int(kind != "L") for kind in kinds if kind in STRONG), 0)
    outside = "R" if base else "L"
    types = _resolve_neutrals(_resolve_weak(kinds, outside), outside)
    levels = [base + _level_increment(kind, base) for kind in types]
    for at in range(len(kinds) - 1, -1, -1):
        if kinds[at] not in ("WS", "B", "S"):
            break
        levels[at] = base
    return levels


def _level_increment(kind: str, base: int) -> int:
    if base == 0:
        return {"R": 1, "AN": 2, "EN": 2}.get(kind, 0)
    return 0 if kind == "R" else 1


def _resolve_weak(kinds: list[str], outside: str) -> list[str]:
    """Give numbers the direction of the letters before them, and separators that of the numbers around them."""
    types, strong = list(kinds), outside
    for at, kind in enumerate(types):
        if kind in STRONG:
            strong = kind
        elif kind == "EN" and strong == "AL":
            types[at] = "AN"
        if kind == "AL":
            types[at] = "R"
    for at in range(1, len(types) - 1):
        around = types[at - 1] if types[at - 1] == types[at + 1] else ""
        if (types[at], around) in (("ES", "EN"), ("CS", "EN"), ("CS", "AN")):
            types[at] = around
    types = _resolve_number_signs(types)
    strong = outside
    for at, kind in enumerate(types):
        strong = kind if kind in ("L", "R") else strong
        types[at] = "L" if kind == "EN" and strong == "L" else kind
    return types


def _resolve_number_signs(types: list[str]) -> list[str]:
    """Treat signs such as % and $ as part of the number that they touch."""
    resolved = list(types)
    for direction in (range(len(resolved)), range(len(resolved) - 1, -1, -1)):
        before = ""
        for at in direction:
            if resolved[at] == "ET" and before == "EN":
                resolved[at] = "EN"
            before = resolved[at]
    return resolved


def _resolve_neutrals(types: list[str], outside: str) -> list[str]:
    """Give neutral characters the direction of their neighbours where these agree, else that of the line."""
    resolved, at = list(types), 0
    while at < len(resolved):
        end = at
        while end < len(resolved) and resolved[end] in NEUTRAL:
            end += 1
        if end > at:
            before = _direction(resolved[at - 1]) if at else outside
            after = _direction(resolved[end]) if end < len(resolved) else outside
            resolved[at:end] = [before if before == after else outside] * (end - at)
        at = end + 1
    return resolved


def _direction(kind: str) -> str:
    return "L" if kind == "L" else "R"


def _reverse_runs(order: list[int], levels: list[int], level: int) -> list[int]:
    """Return the order with every run at this level or above reversed."""
    reordered: list[int] = []
    run: list[int] = []
    for at in order:
        if levels[at] >= level:
            run.append(at)
            continue
        reordered += [*reversed(run), at]
        run = []
    return [*reordered, *reversed(run)]
