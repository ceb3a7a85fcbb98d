"""Names of stored pictures, and what kind each is by its name."""

import re

KINDS = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
NAME = re.compile(r"[0-9a-f]{32}\.(jpg|png|webp)")
