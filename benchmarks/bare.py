"""The least that Flask can do: ready bytes, no hooks. What every rate is compared with."""

from flask import Flask, Response

BODY = (
    b'{"status":"success","success":true,"statusCode":"00000","message":"OK","shortMessage":"SUCCESS",'
    b'"timestamp":"2026-11-20T08:00:00.000Z","requestId":"5f0c3a9b1d2e4f6a7b8c9d0e","data":{"ok":true}}'
)

app = Flask(__name__)


@app.get("/")
def bare() -> Response:
    """An answer as long as that of `/health`."""
    return Response(BODY, mimetype="application/json")
