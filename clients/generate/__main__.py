"""Writes every client anew."""

from clients.generate import files
from clients.generate.contract import served

for path, content in files.made(served()).items():
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
