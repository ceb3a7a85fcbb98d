#!/usr/bin/env bash
# Makes a release of the tree that this script stands in: /opt/event-commerce/releases/NAME with its own virtual
# environment. Prints its folder. Serves nothing yet.
#   deploy/release.sh [NAME]
set -euo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
releases=${EVENT_COMMERCE_HOME:-/opt/event-commerce}/releases
name=${1:-$(date -u +%Y%m%dT%H%M%SZ)}
release=$releases/$name

say() { echo "$*" >&2; }

[ ! -e "$release" ] || { say "$release is there already."; exit 1; }
install -d -m 0755 "$releases"
trap 'rm -rf "$release.new"' EXIT
rm -rf "$release.new"
mkdir "$release.new"
(cd "$source" && tar -cf - app deploy docs migrations wsgi.py gunicorn.conf.py gunicorn_streams.conf.py requirements.txt) | tar -xf - -C "$release.new"
chmod -R u=rwX,go=rX "$release.new"

say "Installing what the program needs …"
# Moved afterwards, so nothing may lean on the folder's name: programs are started as `python -m …`.
"${PYTHON:-python3}" -m venv "$release.new/.venv"
"$release.new/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
  --requirement "$release.new/requirements.txt" >&2
"$release.new/.venv/bin/python" -m compileall -q "$release.new/app" "$release.new/migrations" "$release.new/wsgi.py"
mv "$release.new" "$release"
echo "$release"
