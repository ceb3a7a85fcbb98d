"""Devices of an event, and the API keys of an organisation."""

from typing import Any

import segno
from flask import current_app

from app.accounts.errors import CodeInvalid
from app.accounts.permissions import DEVICES, KEYS
from app.blueprints.teams import schemas
from app.teams import actions, errors, queries
from app.web.access import PUBLIC, get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.rate_limits import CODE_ATTEMPT_LIMIT

blp = Blueprint("devices", __name__, url_prefix="/api", description="Devices of an event, and API keys")
DEVICE_PATH, KEY_PATH = "/events/<eventId>/devices", "/organisations/me/api-keys"


@blp.get(DEVICE_PATH, access=may(DEVICES), returns=schemas.EventDevicesData)
def list_devices(event_id: str) -> dict[str, object]:
    """List the devices of an event, with who made each and when it was last seen."""
    return {"devices": queries.list_devices(get_current_caller(), event_id)}


@blp.post(
    DEVICE_PATH,
    access=may(DEVICES),
    body=schemas.EventDeviceBody,
    returns=schemas.NewEventDevice,
    status=201,
    errors=[errors.TeamFull],
)
def create_device(event_id: str, kind: str, name: str) -> dict[str, object]:
    """Add a phone or a scanner to an event.

    Next: open `pairingUrl` on the device, or scan the QR code. The code works once, for ten minutes. The device may then
    do what its kind needs, for this event only, until 48 hours after its end.
    """
    device, code = actions.create_device(caller=get_current_caller(), event_id=event_id, kind=kind, name=name)
    url = f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/pair/{code}"
    return {
        **schemas.list_attributes(schemas.EventDeviceRow, device),
        "pairing_code": code,
        "pairing_url": url,
        "pairing_qr": segno.make_qr(url, error="m").svg_data_uri(border=4),
        "pairing_expires_at": device.pairing_expires_at,
    }


@blp.delete(f"{DEVICE_PATH}/<deviceId>", access=may(DEVICES))
def end_device(event_id: str, device_id: str) -> None:
    """End a device. Its token is refused from the next request on."""
    actions.end_device(caller=get_current_caller(), event_id=event_id, device_id=device_id)


@blp.post(
    "/devices/pair",
    access=PUBLIC,
    body=schemas.PairBody,
    returns=schemas.PairedData,
    limit=CODE_ATTEMPT_LIMIT,
    errors=[CodeInvalid],
)
def pair_device(code: str) -> dict[str, object]:
    """Exchange a pairing code for the token of a device, which is shown once."""
    paired = actions.pair_device(code=code)
    device = paired.device
    return {
        "id": device.id,
        "kind": device.kind,
        "name": device.name,
        "event_id": device.event_id,
        "event_name": paired.event_name,
        "device_token": paired.token,
        "works_until": paired.works_until,
    }


@blp.get(KEY_PATH, access=may(KEYS, whole_organisation=True), returns=schemas.ApiKeysData)
def list_api_keys() -> dict[str, object]:
    """List the API keys of the organisation, with who made each and when it was last used."""
    return {"api_keys": queries.list_api_keys(queries.get_organisation(get_current_caller()))}


@blp.post(
    KEY_PATH,
    access=may(KEYS, whole_organisation=True).with_verified_email(),
    body=schemas.ApiKeyBody,
    returns=schemas.NewApiKey,
    status=201,
    errors=[errors.TeamFull],
)
def create_api_key(**body: Any) -> dict[str, object]:
    """Make an API key; it is shown once.

    It needs your password, or a sign-in of the last ten minutes. Send the key as a Bearer token.
    """
    caller = get_current_caller()
    organisation = queries.get_organisation(caller)
    api_key, key = actions.create_api_key(caller=caller, organisation=organisation, **body)
    return {**schemas.list_attributes(schemas.ApiKeyRow, api_key), "key": key}


@blp.delete(f"{KEY_PATH}/<keyId>", access=may(KEYS, whole_organisation=True))
def end_api_key(key_id: str) -> None:
    """End an API key. It is refused from the next request on."""
    actions.end_api_key(organisation=queries.get_organisation(get_current_caller()), key_id=key_id)
