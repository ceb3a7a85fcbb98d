"""Bodies that hold a field of every type."""

from marshmallow import fields

from app.web.fields import Boolean, Choice, Email, List, Nested, Number, Phone, Secret, Text, TimeField, WholeNumber
from app.web.schema import Schema


class TicketType(Schema):
    name = Text(required=True, max=10)
    price_minor = WholeNumber(required=True, min=0)


class Wish(Schema):
    """A field of every type."""

    name = Text(min=2, max=10)
    note = Text(max=50, allow_none=True)
    secret = Secret(min=4, max=8)
    email = Email()
    phone = Phone()
    whole = WholeNumber(min=0, max=2**53 - 1)
    any_whole = WholeNumber()
    number = Number(min=0, max=10)
    flag = Boolean()
    choice = Choice("red", "green")
    at = TimeField()
    tags = List(Text(max=5), max=3)
    ticket_types = List(Nested(TicketType), min=1, max=5)
    free = fields.Dict()


class Plain(Schema):
    """No money in it."""

    name = Text()
