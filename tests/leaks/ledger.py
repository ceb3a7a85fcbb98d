"""What the run knows to be secret, and every word that was logged."""

import json
import re
from collections.abc import Iterator
from typing import Any

# A secret that reads like an ordinary word would be found everywhere; those of tests are longer.
SHORTEST_PASSWORD = 12
NAMED = re.compile(
    r'"(?:accessToken|refreshToken|resetToken|identity_token|id_token|bootstrapSecret|shiftCode|pin|otp)"'
    r': ?"([^"]{6,})"'
    r'|"code": ?"([0-9]{6}|[0-9A-Z]{10})"'
    r"|/(?:claim|allocator|pay|documents|docs|files|link|activate|merchant-activation|ops|unsubscribe)/([\w.-]{10,})"
)
PASSWORDS = re.compile(r'"(?:password|confirmPassword|currentPassword|newPassword)": ?"([^"\\]+)"')
WORD = re.compile(r"[\w.~+-]{6,}")


class Ledger:
    """`learn` what is secret, `note` what is logged, ask for `leaks`: each secret that was logged, with its line."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.secrets: set[str] = set()
        self.phrases: set[str] = set()
        self.lines = 0
        self._told: dict[str, str] = {}

    def learn(self, text: str) -> None:
        """The secrets in what was sent or answered, by their names and places."""
        for found in NAMED.findall(text):
            self.secrets.update(filter(None, found))
        for password in PASSWORDS.findall(text):
            if len(password) >= SHORTEST_PASSWORD:
                self.phrases.add(password)

    def add(self, *secrets: str) -> None:
        self.secrets.update(secrets)

    def note(self, line: str) -> None:
        """Remembers a line. A number that is no text, such as the id of a process, is no code."""
        self.lines += 1
        for text in _texts(line):
            for word in WORD.findall(text):
                self.words.setdefault(word.strip("."), line)
            for phrase in self.phrases:
                if phrase in text:
                    self._told[phrase] = line

    def leaks(self) -> dict[str, str]:
        return self._told | {secret: self.words[secret] for secret in self.secrets & self.words.keys()}


def _texts(line: str) -> Iterator[str]:
    """The texts of a line: those inside it when it is JSON, otherwise the line."""
    try:
        yield from _inside(json.loads(line))
    except ValueError:
        yield line


def _inside(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _inside(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner)


RUN = Ledger()
"""That of this process."""
