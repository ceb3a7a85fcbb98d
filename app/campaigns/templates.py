"""The built-in templates: texts that organisers adapt."""

from dataclasses import dataclass

from app.campaigns.placeholders import placeholders_in


@dataclass(frozen=True)
class Template:
    """A title and a body with placeholders, and their purpose."""

    id: str
    name: str
    description: str
    title: str
    body: str

    @property
    def placeholders(self) -> list[str]:
        """The placeholders of its texts, in the order of first use."""
        return placeholders_in(f"{self.title} {self.body}")


TEMPLATES = {
    template.id: template
    for template in (
        Template(
            "event-reminder",
            "Reminder",
            "The days before: when and where, so that people need not look for it.",
            "{eventName}: see you soon",
            "Hello {firstName},\n\n{eventName} begins {startsAt} at {venue}, {city}. You have {tickets}. "
            "Bring the code on your telephone or on paper, and come a little early.\n\n{organiserName}",
        ),
        Template(
            "line-up",
            "Line-up",
            "Who plays, and when the programme is out.",
            "{eventName}: the line-up is out",
            "Hello {firstName},\n\nthe line-up of {eventName} is complete. Have a look at who plays on {startDate} "
            "and plan your evening.\n\n{organiserName}",
        ),
        Template(
            "event-change",
            "Change",
            "Something that people have to know is different now.",
            "{eventName}: please note a change",
            "Hello {firstName},\n\nsomething has changed for {eventName}. It now begins {startsAt} at {venue}, {city}. "
            "Your tickets stay valid.\n\n{organiserName}",
        ),
        Template(
            "sold-out-warning",
            "Nearly sold out",
            "For people who want to bring a friend.",
            "{eventName} is nearly sold out",
            "Hello {firstName},\n\nonly few tickets are left for {eventName} on {startDate}. If a friend wants to come "
            "along, now is the time.\n\n{organiserName}",
        ),
        Template(
            "thank-you",
            "Thank you",
            "The days after.",
            "Thank you for coming to {eventName}",
            "Hello {firstName},\n\nthank you for being at {eventName}. It was good to have you there. "
            "We hope to see you again.\n\n{organiserName}",
        ),
        Template(
            "blank",
            "Blank",
            "An empty page, with a greeting.",
            "{eventName}",
            "Hello {firstName},\n\n…\n\n{organiserName}",
        ),
    )
}
