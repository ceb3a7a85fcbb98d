"""The form of a message to many: texts, picture, channels, a second variant, and who gets it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from flask import request

from app.accounts.caller import Caller
from app.applications.states import STATES as APPLICATION_STATES
from app.blueprints.pages.desk.form_parts import VERSION, WRONG_NUMBER
from app.blueprints.pages.desk.message_words import CHANNEL_LABELS, IN_LABELS, ROLE_LABELS, TEMPLATE_LABELS
from app.blueprints.pages.desk.stall_words import STATE_LABELS
from app.blueprints.pages.forms import FilledForm, Form, Input
from app.blueprints.pages.inputs import PICTURE_ERRORS
from app.campaigns import actions
from app.campaigns.filtered_people_sql import GUESTS, ROLES, TICKET_HOLDERS
from app.campaigns.message_templates import TEMPLATES, unknown_in
from app.campaigns.queries import AudienceChoices
from app.campaigns.states import FILTERED, HOLDERS, SPECIFIC
from app.core.languages import LANGUAGES, gettext, lazy_gettext
from app.web.campaign_fields import MOST_CHOICES, CheckedSchema, Destination, ListOrText, OneLine, channels
from app.web.fields import Boolean, Choice, Id, Number, OneOf, Text, WholeNumber
from app.web.schema import Query, to_camel_case
from app.web.text_fields import ImageUrl

EXAMPLE = ["x"]
FILTER_FIELDS = ("ticket_type_ids", "admitted", "block_ids", "application_states", "languages")
CLEARED = {
    **dict.fromkeys(("href", "image_url", "variant_b_title", "variant_b_body")),
    "ab_split_percent": 50,
}
"""The values of fields that were left empty."""


def _several(*values: str, **options: Any) -> ListOrText:
    return ListOrText(Text(validate=[OneOf(values)]), max=len(values), example=EXAMPLE, **options)


def _ids() -> ListOrText:
    return ListOrText(Id(), max=MOST_CHOICES, example=EXAMPLE)


class MessageSchema(CheckedSchema, Query):
    name = OneLine(required=True, min=2, max=120)
    template_id = Choice(*TEMPLATES, required=True)
    title = OneLine(required=True, min=1, max=160)
    body = Text(required=True, min=1, max=600)
    href = Destination(max=300)
    image = Text()
    image_url = ImageUrl()
    remove_image = Boolean(load_default=False)
    channels = channels(required=True)
    ab_test_enabled = Boolean(load_default=False)
    variant_b_title = OneLine(max=160)
    variant_b_body = Text(max=600)
    ab_split_percent = Number(min=10, max=90)
    override_preferences = Boolean(load_default=False)
    version = WholeNumber(min=0)


class FilteredMessageSchema(MessageSchema):
    roles = _several(*ROLES, required=True, min=1)
    ticket_type_ids = _ids()
    admitted = Boolean()
    block_ids = _ids()
    application_states = _several(*APPLICATION_STATES)
    languages = _several(*LANGUAGES)


UNKNOWN_WORD = "unknown_placeholder"
INPUTS = (
    Input(
        "name",
        lazy_gettext("Name"),
        hint=lazy_gettext("Only your team sees it."),
        messages={"required": lazy_gettext("Enter a name.")},
    ),
    Input("templateId", "", type="hidden"),
    Input(
        "title",
        lazy_gettext("Title"),
        hint=lazy_gettext("The subject of the mail. Up to 160 characters."),
        messages={"required": lazy_gettext("Enter a title.")},
    ),
    Input(
        "body",
        lazy_gettext("Text"),
        hint=lazy_gettext(
            "Up to 600 characters. An empty line begins a paragraph. {firstName} becomes the first name of each person; "
            "more such words are below."
        ),
        type="textarea",
        messages={
            "required": lazy_gettext("Enter the text."),
            "too_long": lazy_gettext("The text has more than 600 characters."),
        },
    ),
    Input(
        "href",
        lazy_gettext("Link of the button"),
        hint=lazy_gettext(
            "An address that begins with https://, or a page of this site like /e/lights. Clicks are counted."
        ),
        type="url",
    ),
    Input(
        "image",
        lazy_gettext("Picture"),
        hint=lazy_gettext("JPEG, PNG or WebP, up to 5 MB."),
        type="file",
        error_codes=PICTURE_ERRORS,
    ),
    Input("imageUrl", "", type="hidden"),
    Input("removeImage", lazy_gettext("Send it without the picture"), type="checkbox"),
    Input(
        "channels",
        lazy_gettext("Channels"),
        type="checkboxes",
        options=list(CHANNEL_LABELS.items()),
        messages={"required": lazy_gettext("Choose at least one channel.")},
    ),
    Input("abTestEnabled", lazy_gettext("Send a second variant to some of the people"), type="checkbox"),
    Input(
        "variantBTitle",
        lazy_gettext("Title of variant B"),
        hint=lazy_gettext("Empty: the same title."),
        messages={"required": lazy_gettext("Enter another title, another text, or both.")},
    ),
    Input(
        "variantBBody",
        lazy_gettext("Text of variant B"),
        hint=lazy_gettext("Empty: the same text."),
        type="textarea",
    ),
    Input(
        "abSplitPercent",
        lazy_gettext("Share of variant B in percent"),
        hint=lazy_gettext("10 to 90. Empty: 50."),
        inputmode="numeric",
        messages={
            "invalid_type": WRONG_NUMBER,
            "too_small": lazy_gettext("At least 10."),
            "too_large": lazy_gettext("At most 90."),
        },
    ),
    Input(
        "overridePreferences",
        lazy_gettext("Also write to people who switched a channel off"),
        hint=lazy_gettext(
            "Only for what they have to know, like a change of the venue. It is recorded with your name. People "
            "who unsubscribed never get it."
        ),
        type="checkbox",
    ),
)
NEEDS_TICKETS = lazy_gettext("Choose ticket holders or guests too, or leave this empty.")
ADMITTED_OPTIONS = [("", lazy_gettext("All")), ("true", IN_LABELS[True]), ("false", IN_LABELS[False])]


def build_message_form(choices: AudienceChoices, *, with_audience: bool = True) -> Form:
    """The form for an event with these ticket types and blocks. A message to named people has no choice of people."""
    audience = [
        Input(
            "roles",
            lazy_gettext("Who gets it"),
            hint=lazy_gettext(
                "Everybody gets it once, also people who are in several of these groups. Stallholders are also approved "
                "applicants with a settled fee who have not opened their account yet."
            ),
            type="checkboxes",
            options=list(ROLE_LABELS.items()),
            messages={"required": lazy_gettext("Choose who gets it.")},
        ),
        Input(
            "ticketTypeIds",
            lazy_gettext("Only of these ticket types"),
            hint=lazy_gettext("For ticket holders and guests. None chosen: all."),
            type="checkboxes",
            options=choices.ticket_types,
            messages={"contradiction": NEEDS_TICKETS},
        ),
        Input(
            "admitted",
            lazy_gettext("At the gate"),
            hint=lazy_gettext("For ticket holders and guests."),
            options=ADMITTED_OPTIONS,
            messages={"contradiction": NEEDS_TICKETS},
        ),
        Input(
            "blockIds",
            lazy_gettext("Only of these blocks"),
            hint=lazy_gettext("For guests. None chosen: all."),
            type="checkboxes",
            options=choices.blocks,
            messages={"contradiction": lazy_gettext("Choose guests too, or choose no block.")},
        ),
        Input(
            "applicationStates",
            lazy_gettext("Only with these applications"),
            hint=lazy_gettext("For applicants. None chosen: all who were not declined and have not withdrawn."),
            type="checkboxes",
            options=list(STATE_LABELS.items()),
            messages={"contradiction": lazy_gettext("Choose applicants too, or choose no state.")},
        ),
        Input(
            "languages",
            lazy_gettext("Only readers of these languages"),
            hint=lazy_gettext("People whose language we do not know count as readers of English."),
            type="checkboxes",
            options=list(LANGUAGES.items()),
        ),
    ]
    if not with_audience:
        return Form(MessageSchema, *INPUTS, VERSION)
    audience_inputs = [
        input_ for input_ in audience if len(input_.options) > 1 or input_.name == "blockIds" and input_.options
    ]
    return Form(FilteredMessageSchema, *INPUTS, *audience_inputs, VERSION)


def fill_new_message(form: Form, template_id: str, roles: Sequence[str] = ()) -> FilledForm:
    """The form with the texts of a template, by e-mail for people with these roles, else for everybody with a ticket."""
    template = TEMPLATES.get(template_id) or TEMPLATES["blank"]
    return form.fill(
        name="" if template.id == "blank" else str(TEMPLATE_LABELS[template.id]),
        templateId=template.id,
        title=template.title,
        body=template.body,
        channels="email",
        roles=",".join(role for role in ROLES if role in roles) or f"{TICKET_HOLDERS},{GUESTS}",
    )


def fill_message_form(form: Form, campaign: Mapping[Any, Any]) -> FilledForm:
    """The form with a message, and its version."""
    chosen = campaign["audience_filter"] or {"roles": [TICKET_HOLDERS, GUESTS]}
    values = {**campaign, **chosen, "override_preferences": not campaign["respect_preferences"]}
    if not campaign["ab_test_enabled"]:
        values["ab_split_percent"] = None
    texts = {to_camel_case(name): _format_value(value) for name, value in values.items()}
    return form.fill(**{name: text for name, text in texts.items() if name in form.inputs})


def store_picture(caller: Caller, event_id: str, form: FilledForm) -> FilledForm:
    """Store the uploaded picture, if there is one, and return the form with its address.

    So the picture is not lost when another field is wrong. Raises NotFound, and what `actions.upload_image` raises.
    """
    file = request.files.get("image")
    if file is None or not file.filename:
        return form
    picture = actions.upload_image(caller=caller, event_id=event_id, data=file.read())
    return replace(form, values={**form.values, "imageUrl": picture.url, "removeImage": ""})


def read_message(form: FilledForm) -> dict[str, Any]:
    """The fields of a campaign from the form. Raises ValidationFailed with all errors."""
    values = {**CLEARED, **form.load()}
    for name in ("image", "version"):
        values.pop(name, None)
    if values.pop("remove_image"):
        values["image_url"] = None
    values["respect_preferences"] = not values.pop("override_preferences")
    if "roles" in values:
        values |= _read_audience(values)
    return values


def _read_audience(values: dict[str, Any]) -> dict[str, Any]:
    """The audience that was chosen: without conditions, holders and guests are all ticket holders of the API."""
    roles, conditions = values.pop("roles"), {name: values.pop(name, None) for name in FILTER_FIELDS}
    chosen = {name: value for name, value in conditions.items() if value not in (None, [])}
    if not chosen and set(roles) == {TICKET_HOLDERS, GUESTS}:
        return {"audience_type": HOLDERS, "audience_filter": None}
    return {"audience_type": FILTERED, "audience_filter": {"roles": roles, **chosen}}


def name_unknown_words(form: FilledForm) -> FilledForm:
    """The form whose errors say which words in braces are not known."""
    problems = form.error.data.get("errors", ()) if form.error else ()
    wrong_names = {to_camel_case(problem["path"]) for problem in problems if problem["code"] == UNKNOWN_WORD}
    if not wrong_names:
        return form
    inputs = [
        replace(input_, messages={**input_.messages, UNKNOWN_WORD: _describe_unknown(form.values[input_.name])})
        if input_.name in wrong_names
        else input_
        for input_ in form.form.inputs.values()
    ]
    return replace(form, form=Form(form.form.schema, *inputs))


def _describe_unknown(text: str) -> str:
    return " ".join(
        gettext("We do not know {%(word)s}. Did you mean {%(similar)s}?", word=word[:40], similar=similar)
        if similar
        else gettext("We do not know {%(word)s}. Use a word from the list below the text.", word=word[:40])
        for word, similar in unknown_in(text).items()
    )


def has_named_people(campaign: Mapping[Any, Any]) -> bool:
    """Whether a program chose the people of this message one by one."""
    return bool(campaign["audience_type"] == SPECIFIC)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return f"{value:g}"
    return ",".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)
