"""Right-to-left text as a page needs it: Arabic letters in their joined forms, and lines in the order of the eye.

A PDF draws letters from left to right in the order it is given. `joined` chooses the form each Arabic letter has
between its neighbours (before a line is measured and broken), `visual` turns a finished line round (after).

Follows Unicode's rules for weak and neutral characters (UAX #9: P2, W1–W7, N1–N2, I1–I2, L1–L4) without embeddings,
isolates and paired brackets; their control characters never get this far.
"""

import unicodedata
from functools import cache

STRONG = ("L", "R", "AL")
NEUTRAL = ("B", "S", "WS", "ON", "ES", "ET", "CS", "BN")
FORMS = {"<isolated>": 0, "<final>": 1, "<initial>": 2, "<medial>": 3}
LAM, ALEFS, TATWEEL, BREAK, JOIN = "\u0644", "\u0622\u0623\u0625\u0627", "\u0640", "\u200c", "\u200d"
MIRRORED = dict(zip("()[]{}<>«»‹›≤≥", ")(][}{><»«›‹≥≤", strict=True))


def is_right_to_left(text: str) -> bool:
    """Whether anything in the text runs from the right; almost no text does, and this costs next to nothing."""
    return not text.isascii() and any("\u0590" <= item <= "\u08ff" or "\ufb1d" <= item <= "\ufeff" for item in text)


def join_arabic(text: str) -> str:
    """The text with Arabic letters as they stand between their neighbours; still in the order of speech."""
    if not is_right_to_left(text):
        return text
    text = _ligated(text)
    items = []
    for at, letter in enumerate(text):
        before, after = _neighbour(text, at, -1), _neighbour(text, at, 1)
        form = _joins(before, 2) * _joins(letter, 1) + 2 * (_joins(letter, 2) * _joins(after, 1))
        items.append(_forms().get(letter, {}).get(form, letter))
    return "".join(item for item in items if item not in (BREAK, JOIN))


def to_visual_order(line: str) -> str:
    """A line in the order in which it is drawn."""
    if not is_right_to_left(line):
        return line
    clusters = _clusters(line)
    levels = _levels([unicodedata.bidirectional(cluster[0]) for cluster in clusters])
    order = list(range(len(clusters)))
    for level in range(max(levels), 0, -1):
        order = _reversed_from(order, levels, level)
    return "".join(MIRRORED.get(clusters[at], clusters[at]) if levels[at] % 2 else clusters[at] for at in order)


@cache
def _forms() -> dict[str, dict[int, str]]:
    """Of each letter the forms by number: 1 joins what is before, 2 what comes after, 3 both."""
    values: dict[str, dict[int, str]] = {}
    for code in [*range(0xFE80, 0xFEFD), *range(0xFB50, 0xFBB2), *range(0xFBD3, 0xFC00)]:
        kind, *letters = unicodedata.decomposition(chr(code)).split() or [""]
        if kind in FORMS:
            values.setdefault("".join(chr(int(letter, 16)) for letter in letters), {})[FORMS[kind]] = chr(code)
    return values | {forms[0]: forms for pair, forms in values.items() if len(pair) == 2}


def _ligated(text: str) -> str:
    """Lam and alef are one letter, which stands alone until its neighbours are known."""
    for alef in ALEFS:
        text = text.replace(LAM + alef, _forms()[LAM + alef][0])
    return text


def _joins(letter: str, side: int) -> bool:
    """Whether a letter reaches out to what is before (1) or after (2) it."""
    return letter in (TATWEEL, JOIN) or side in _forms().get(letter, {})


def _neighbour(text: str, at: int, step: int) -> str:
    """The next letter that way; vowel signs do not stand between letters."""
    at += step
    while 0 <= at < len(text) and unicodedata.bidirectional(text[at]) == "NSM":
        at += step
    return text[at] if 0 <= at < len(text) else ""


def _clusters(line: str) -> list[str]:
    """Letters with the signs above and below them, which stay behind their letter."""
    items: list[str] = []
    for item in line:
        if items and unicodedata.bidirectional(item) == "NSM":
            items[-1] += item
        else:
            items.append(item)
    return items


def _levels(kinds: list[str]) -> list[int]:
    base = next((int(kind != "L") for kind in kinds if kind in STRONG), 0)
    outside = "R" if base else "L"
    types = _neutrals(_weak(kinds, outside), outside)
    levels = [base + _raise(kind, base) for kind in types]
    for at in range(len(kinds) - 1, -1, -1):
        if kinds[at] not in ("WS", "B", "S"):
            break
        levels[at] = base
    return levels


def _raise(kind: str, base: int) -> int:
    if base == 0:
        return {"R": 1, "AN": 2, "EN": 2}.get(kind, 0)
    return 0 if kind == "R" else 1


def _weak(kinds: list[str], outside: str) -> list[str]:
    """Numbers take the colour of the letters before them, separators that of the numbers around them."""
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
    types = _beside_numbers(types)
    strong = outside
    for at, kind in enumerate(types):
        strong = kind if kind in ("L", "R") else strong
        types[at] = "L" if kind == "EN" and strong == "L" else kind
    return types


def _beside_numbers(types: list[str]) -> list[str]:
    """Signs such as % and $ belong to the number they touch."""
    items = list(types)
    for way in (range(len(items)), range(len(items) - 1, -1, -1)):
        before = ""
        for at in way:
            if items[at] == "ET" and before == "EN":
                items[at] = "EN"
            before = items[at]
    return items


def _neutrals(types: list[str], outside: str) -> list[str]:
    """What has no direction goes with its neighbours where they agree, and else with the line."""
    result, at = list(types), 0
    while at < len(result):
        end = at
        while end < len(result) and result[end] in NEUTRAL:
            end += 1
        if end > at:
            left = _side(result[at - 1]) if at else outside
            right = _side(result[end]) if end < len(result) else outside
            result[at:end] = [left if left == right else outside] * (end - at)
        at = end + 1
    return result


def _side(kind: str) -> str:
    return "L" if kind == "L" else "R"


def _reversed_from(order: list[int], levels: list[int], level: int) -> list[int]:
    """Every stretch at this level or above it, turned round."""
    items: list[int] = []
    run: list[int] = []
    for at in order:
        if levels[at] >= level:
            run.append(at)
            continue
        items += [*reversed(run), at]
        run = []
    return [*items, *reversed(run)]
