"""The words that this project does not use, in one place. CONTRIBUTING.md says what to write instead."""

import re

FUNCTIONS = frozenset(
    [
        "told",
        "shown",
        "asked",
        "given",
        "made",
        "found",
        "listed",
        "standing",
        "said",
        "wired",
        "kept",
        "taken",
        "begun",
        "ended",
        "looked_at",
    ]
)
"""Names of functions and methods that do not say what happens to what."""

LOCALS = frozenset(["each", "found", "told", "made", "given", "here", "asked", "wanted", "shown", "whom", "whoever"])
"""Names of variables and parameters that do not say what they hold."""

MODULES = frozenset(
    [
        "telling",
        "looking",
        "shown",
        "kept",
        "apart",
        "hall",
        "ear",
        "desk",
        "bell",
        "vault",
        "farewell",
        "waypoints",
        "finding",
        "giving",
        "moving",
        "settling",
        "reading",
        "writing",
        "recording",
        "asking",
        "fanning",
        "counting",
        "claiming",
        "inviting",
        "drawing",
        "paper",
        "letters",
        "words",
        "lettering",
    ]
)
"""Names of modules: neither a topic nor a standard term."""

TEXT = re.compile(
    r"\b(whoever|whomever|whosoever|himself|herself|thereof|hereby|lest|nought|"
    r"he|she|his|likewise|in vain|once more|has had its time|had their time|stands at this address)\b",
    re.IGNORECASE,
)
"""Words in docstrings, comments, messages, pages, mails and documents."""
