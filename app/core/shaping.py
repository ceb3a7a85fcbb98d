"""Right-to-left text for a page that is drawn from left to right: letters joined, words in the order of reading.

Arabic letters get the form that their neighbours ask for (Unicode's presentation forms, which our typeface has); then
the runs of a line are put in the order in which they stand on paper, after the bidirectional algorithm (UAX 9) without
its marks for embedding, which people's names do not have. Text without such letters comes back as it is.
"""

import unicodedata
from functools import cache
from itertools import groupby

FIRST = "\u0590"
MIRRORED = dict(zip("()[]{}<>«»", ")(][}{><»«", strict=True))
JOINER = "\u0640"
Forms = dict[str, dict[str, str]]


def joined(text: str) -> str:
    """The text with each Arabic letter in the form in which it joins its neighbours."""
    if not text or max(text) < FIRST:
        return text
    forms = _forms()
    for pair, form in forms["ligatures"].items():
        text = text.replace(pair, form)
    shown = []
    for at, letter in enumerate(text):
        own = forms.get(letter, {})
        before = "initial" in forms.get(_beside(text, at, -1), {}) and "final" in own
        after = "initial" in own and "final" in forms.get(_beside(text, at, 1), {})
        form = "medial" if before and after else "final" if before else "initial" if after else "isolated"
        shown.append(own.get(form, letter))
    return "".join(shown)


def ordered(line: str) -> str:
    """One line in the order in which it is drawn."""
    if not line or max(line) < FIRST:
        return line
    clusters = _clusters(line)
    kinds = [_kind(each[0]) for each in clusters]
    if "R" not in kinds:
        return line
    levels = _levels(kinds)
    for level in range(max(levels), 0, -1):
        _turn(clusters, levels, level)
    return "".join(clusters)


def shaped(line: str) -> str:
    """Both."""
    return ordered(joined(line))


def _clusters(line: str) -> list[str]:
    """Letters with the marks that stand on them."""
    found: list[str] = []
    for each in line:
        if found and unicodedata.combining(each):
            found[-1] += each
        else:
            found.append(each)
    return found


def _kind(letter: str) -> str:
    """L and R are strong, N a number, S what may stand within one, and the rest goes with its neighbours."""
    name = unicodedata.bidirectional(letter)
    return {"L": "L", "R": "R", "AL": "R", "EN": "N", "AN": "N", "ES": "S", "CS": "S", "ET": "S"}.get(name, " ")


def _levels(kinds: list[str]) -> list[int]:
    base = next((each for each in kinds if each in "LR"), "L")
    kinds, strong = list(kinds), base
    for at, kind in enumerate(kinds):
        strong = kind if kind in "LR" else strong
        if kind == "S":
            inside = 0 < at < len(kinds) - 1 and kinds[at - 1] in "NL" and kinds[at + 1] == "N"
            kinds[at] = kinds[at - 1] if inside else " "
        elif kind == "N" and strong == "L":
            kinds[at] = "L"
    runs = [(kind, len(list(run))) for kind, run in groupby(kinds)]
    levels: list[int] = []
    for at, (kind, count) in enumerate(runs):
        if kind == " ":
            left = _side(runs[at - 1][0]) if at else base
            right = _side(runs[at + 1][0]) if at + 1 < len(runs) else base
            kind = left if left == right else base
        level = {"L": 0 if base == "L" else 2, "R": 1, "N": 2}[kind]
        levels += [level] * count
    return levels


def _side(kind: str) -> str:
    return "L" if kind == "L" else "R"


def _turn(clusters: list[str], levels: list[int], level: int) -> None:
    """Reverses each run of this level and above; its brackets turn with it."""
    at = 0
    while at < len(levels):
        if levels[at] < level:
            at += 1
            continue
        end = at
        while end < len(levels) and levels[end] >= level:
            end += 1
        clusters[at:end] = [MIRRORED.get(each, each) for each in reversed(clusters[at:end])]
        levels[at:end] = levels[at:end][::-1]
        at = end


def _beside(text: str, at: int, step: int) -> str:
    """The next letter on that side; marks do not keep letters apart."""
    at += step
    while 0 <= at < len(text) and unicodedata.combining(text[at]):
        at += step
    return text[at] if 0 <= at < len(text) else ""


@cache
def _forms() -> Forms:
    """For each letter its forms by name, as Unicode's own table of presentation forms tells them."""
    found: Forms = {"ligatures": {}, JOINER: {"initial": JOINER, "medial": JOINER, "final": JOINER}}
    for code in (*range(0xFB50, 0xFBFF + 1), *range(0xFE70, 0xFEFC + 1)):
        name, _, plain = unicodedata.decomposition(chr(code)).partition(" ")
        letters = "".join(chr(int(each, 16)) for each in plain.split())
        if len(letters) == 1:
            found.setdefault(letters, {})[name.strip("<>")] = chr(code)
        elif len(letters) == 2 and letters[0] == "\u0644":
            _ligature(found, letters, name.strip("<>"), chr(code))
    return found


def _ligature(found: Forms, letters: str, form: str, sign: str) -> None:
    """Lam and alef become one sign, which has forms of its own."""
    if form == "isolated":
        found["ligatures"][letters] = sign
    found.setdefault(found["ligatures"].get(letters, ""), {})[form] = sign
