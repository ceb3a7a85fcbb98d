"""The modules of the gate page: checked by the TypeScript compiler, tested with Node; the vendored decoder is npm's."""

import hashlib
import json
import os
import shutil
import subprocess
from base64 import urlsafe_b64encode
from pathlib import Path

from flask import Flask
from sqlalchemy import text

from app.core.db import db
from app.core.text_normalization import folded_sql
from app.events.search_words import straighten_apostrophes

ROOT = Path(__file__).resolve().parents[2]
MODULES, VENDORED = ROOT / "app" / "static" / "gate", ROOT / "app" / "static" / "vendor" / "zxing-wasm"
NAMES = ["María da  Silva", "O’Brien-Łukasz", "GROßE Ðorđe", "Zoë Åberg", "!Nani ǀGawa", "ﬁne Şükrü İnan"]
HASHES = {
    "share.js": "08868fb770b0a4e4b9eb3d717015cd5fbf3ceb06492d4cb2d2dd2739db11890f",
    "reader/index.js": "d90c69a827aff3b7c8c8ca310efebe91671ef076f7a0ec83722bfc542814f484",
    "reader/zxing_reader.wasm": "e8af31edb56d0522f4de74495839385ef019ba8bc90d38e5ecb2f18795d86fb2",
}
"""Of the files in the npm package zxing-wasm 3.1.4."""


def test_the_modules(app: Flask, tmp_path: Path) -> None:
    folded = [
        db.session.scalar(text(f"SELECT {folded_sql('CAST(:name AS text)')}"), {"name": straighten_apostrophes(name)})
        for name in NAMES
    ]
    digest = hashlib.sha256(b"saltA1B2C3D4E5").digest()[:12]
    shutil.copytree(MODULES, tmp_path, dirs_exist_ok=True)
    shutil.copy(Path(__file__).with_name("gate_modules.test.js"), tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    environment = {
        "PATH": os.environ["PATH"],
        "EXPECTED_HASH": urlsafe_b64encode(digest).decode(),
        "FOLDED_NAMES": json.dumps(list(zip(NAMES, folded, strict=True))),
    }
    run = subprocess.run(["node", "--test"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_types_of_the_modules() -> None:
    install = subprocess.run(["make", "-s", "clients/node_modules/stamp"], cwd=ROOT, capture_output=True, text=True)
    assert install.returncode == 0, install.stdout + install.stderr
    compiler, config = (
        ROOT / "clients" / "node_modules" / ".bin" / "tsc",
        Path(__file__).with_name("gate_tsconfig.json"),
    )
    check = subprocess.run([compiler, "-p", config], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout


def test_the_vendored_decoder_is_that_of_the_package() -> None:
    for name, expected in HASHES.items():
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == expected, name
    licences = {path.name for path in VENDORED.iterdir() if path.name.startswith("LICENSE")}
    assert licences == {"LICENSE", "LICENSE-zxing-cpp"}
