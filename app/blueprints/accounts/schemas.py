"""Requests and responses of the account operations (specification 4.1 and 4.2)."""

from marshmallow import fields

from app.core.languages import LANGUAGES
from app.web.access import TIERS
from app.web.fields import Boolean, Choice, Email, List, Nested, Phone, Secret, Text, TimeField, WholeNumber
from app.web.schema import Schema
from app.web.text_fields import Name, NewPassword, OneTimeCode

CODE_METADATA = {"example": "123456", "description": "six digits, from the mail"}
PASSWORD_METADATA = {"example": "a quiet evening at Sossusvlei", "format": "password"}


class LoginBody(Schema):
    email = Email(required=True)
    password = Secret(required=True, metadata=PASSWORD_METADATA)
    refresh_token = Secret(
        max=512, metadata={"rare": True, "description": "an earlier token, by which the device is known"}
    )


class AppleBody(Schema):
    identity_token = Secret(required=True, max=8192, data_key="identity_token", metadata={"example": "eyJraWQi…"})
    email = Email(metadata={"description": "ignored: the address in the token counts"})
    full_name = Name(min=1, max=120, data_key="full_name", metadata={"example": "Frieda Amupolo"})
    nonce = Secret(max=256, metadata={"rare": True, "description": "required when the token has one"})


class GoogleBody(Schema):
    id_token = Secret(required=True, max=8192, data_key="id_token", metadata={"example": "eyJhbGciOi…"})
    nonce = Secret(max=256, metadata={"rare": True, "description": "required when the token has one"})


class RefreshBody(Schema):
    refresh_token = Secret(required=True, max=512, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6.4.kQ3v…"})


class EmailBody(Schema):
    email = Email(required=True)


class CodeBody(EmailBody):
    code = OneTimeCode(required=True, metadata=CODE_METADATA)


class CompleteResetBody(EmailBody):
    reset_token = Secret(required=True, min=32, max=256, metadata={"example": "u3H…43 characters of the token…kQ4"})
    password = NewPassword(required=True, metadata=PASSWORD_METADATA)


class CustomerBody(EmailBody):
    password = NewPassword(required=True, metadata=PASSWORD_METADATA)
    first_name = Name(required=True, min=1, max=80, metadata={"example": "Frieda"})
    last_name = Name(required=True, min=1, max=80, metadata={"example": "Amupolo"})
    phone = Phone(min=4, max=32)


class NamedBody(EmailBody):
    password = NewPassword(required=True, metadata=PASSWORD_METADATA)
    name = Name(required=True, min=2, max=120, metadata={"example": "Frieda Amupolo"})


class MerchantBody(NamedBody):
    business_name = Name(required=True, min=2, max=200, metadata={"example": "Kapana Corner"})
    stall_name = Name(max=100, metadata={"example": "Kapana Corner, gate B"})
    phone = Phone(min=4, max=32)


class OrganiserBody(NamedBody):
    org_name = Name(required=True, min=2, max=200, metadata={"example": "Windhoek Lights"})
    phone = Phone(min=4, max=32)


class AdminBody(NamedBody):
    title = Text(max=80, metadata={"example": "Head of support"})
    bootstrap_secret = Secret(max=512, metadata={"example": "the secret that `make run` prints"})
    assigned_tier = Choice(*TIERS)


class User(Schema):
    id = fields.String(required=True)
    name = fields.String(required=True)
    email = fields.String(required=True)
    roles = List(fields.String(metadata={"example": "customer"}), required=True)
    phone = fields.String(metadata={"example": "+264811234567", "description": "present only when set"})


class SignedInData(Schema):
    access_token = fields.String(required=True, metadata={"example": "eyJhbGciOiJSUzI1NiIs…"})
    refresh_token = fields.String(required=True, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6.0.kQ3v…"})
    expires_in = WholeNumber(required=True, metadata={"example": 900, "description": "seconds"})
    token_type = fields.String(required=True, metadata={"example": "Bearer"})
    user = Nested(User, required=True)


class ResetTokenData(Schema):
    reset_token = fields.String(required=True, metadata={"example": "u3H…43 characters of the token…kQ4"})
    expires_in = WholeNumber(required=True, metadata={"example": 900, "description": "seconds"})


class IdentityData(Schema):
    provider = fields.String(required=True, metadata={"enum": ["apple", "google"], "example": "google"})
    linked_at = TimeField(required=True)


class IdentitiesData(Schema):
    identities = List(Nested(IdentityData), required=True)


class OrganiserData(Schema):
    org_name = fields.String(required=True, metadata={"example": "Windhoek Lights"})


class MerchantData(Schema):
    business_name = fields.String(required=True, metadata={"example": "Kapana Corner"})
    stall_name = fields.String(allow_none=True)


class AdminData(Schema):
    tier = fields.String(required=True, metadata={"enum": list(TIERS), "example": "support"})
    title = fields.String(allow_none=True)


class Me(User):
    email_verified = Boolean(required=True)
    language = fields.String(
        metadata={"enum": list(LANGUAGES), "example": "af", "description": "present only when set"}
    )
    organiser = Nested(OrganiserData)
    merchant = Nested(MerchantData)
    admin = Nested(AdminData)
