#!/usr/bin/env bash
# /usr/local/bin/event-commerce: the program's own commands, as the service's account and with its settings.
#   event-commerce admin create        event-commerce outbox list --state dead
# Files that are named may lie where the account cannot look: it gets copies. What a command writes under a name
# without a folder comes back to where you stand.
set -euo pipefail

release=${EVENT_COMMERCE_RELEASE:-/opt/event-commerce/current}
stage=$(mktemp -d "${EVENT_COMMERCE_STAGE:-/run}/event-commerce-XXXXXX")
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/out"

arguments=()
for each in "$@"; do
  # Without a dot or a slash it is a word: `outbox list` stays so beside a file `list`.
  if [[ $each == *[./]* ]] && [ -f "$each" ]; then
    mkdir "$stage/${#arguments[@]}"
    cp -- "$each" "$stage/${#arguments[@]}/"
    each=$stage/${#arguments[@]}/${each##*/}
  fi
  arguments+=("$each")
done
chown -R eventcommerce:eventcommerce "$stage"

code=0
systemd-run --quiet --pty --pipe --wait --collect \
  --property=User=eventcommerce --property=Group=eventcommerce --property=UMask=0027 \
  --property=EnvironmentFile=/etc/event-commerce/environment \
  --property=WorkingDirectory="$stage/out" \
  --setenv=PYTHONDONTWRITEBYTECODE=1 \
  "$release/.venv/bin/python" -m flask --app "$release/wsgi.py" "${arguments[@]}" || code=$?

find "$stage/out" -maxdepth 1 -type f -exec cp --no-dereference -t "$PWD" {} +
exit "$code"
