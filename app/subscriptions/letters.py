"""What an organiser writes to many, as the mail that one person gets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.clients.letters import letter, shortened
from app.clients.message import Message
from app.subscriptions.links import UnsubscribeLinks

TITLE_LENGTH, PREHEADER_LENGTH = 160, 110
_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, kw_only=True)
class Sender:
    """In whose name a mail goes out, and where answers to it arrive; the event that it is about."""

    name: str
    reply_to: str | None
    event: str


def campaign_letter(
    *,
    to: str,
    key: str,
    sender: Sender,
    unsubscribe: UnsubscribeLinks,
    title: str,
    body: str,
    href: str | None = None,
    leads_to: str | None = None,
    image_url: str | None = None,
    label: str = "Read more",
) -> Message:
    """The mail for one person, from texts in which everything is filled in. The same `key` gives the same Message-ID.

    `href` is where the button goes, an https address of at most a few hundred characters; when that only counts and
    leads on, `leads_to` is the address behind it, whose host is said. `image_url` is an https address as well. Nothing
    in the texts is markup, of HTML or of templates; a title keeps one line, and 160 characters.
    """
    paragraphs = [block.split("\n") for block in _PARAGRAPHS.split(_plain_ends(body))]
    return letter(
        "campaign",
        to=to,
        key=key,
        sender_name=sender.name,
        reply_to=sender.reply_to,
        headers=unsubscribe.headers,
        keep_links=True,
        title=shortened(" ".join(title.split()), TITLE_LENGTH),
        preheader=_opening(paragraphs),
        paragraphs=paragraphs,
        organiser=sender.name,
        event=sender.event,
        href=href,
        leads_to=urlsplit(leads_to).hostname if leads_to else None,
        image_url=image_url,
        label=label,
        unsubscribe_url=unsubscribe.url,
    )


def _plain_ends(body: str) -> str:
    return body.replace("\r\n", "\n").replace("\r", "\n").strip()


def _opening(paragraphs: Sequence[Sequence[str]]) -> str:
    """The first words, for the line that a mail program shows beside the subject."""
    return shortened(" ".join(" ".join(line) for line in paragraphs), PREHEADER_LENGTH)
