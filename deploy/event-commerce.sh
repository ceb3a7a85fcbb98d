#!/usr/bin/env bash
# /usr/local/bin/event-commerce: the program's own commands, as the service's account and with its settings.
#   event-commerce admin create        event-commerce outbox list --state dead
# Files that are named may lie where the account cannot look: it gets copies. What a command writes goes where the
# account may write: --pdf /tmp/statement.pdf
set -euo pipefail

release=${EVENT_COMMERCE_RELEASE:-/opt/event-commerce/current}
stage=$(mktemp -d "${EVENT_COMMERCE_STAGE:-/run}/event-commerce-XXXXXX")
trap 'rm -rf "$stage"' EXIT

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

systemd-run --quiet --pty --pipe --wait --collect \
  --property=User=eventcommerce --property=Group=eventcommerce --property=UMask=0027 \
  --property=EnvironmentFile=/etc/event-commerce/environment \
  --property=WorkingDirectory="$release" \
  --setenv=PYTHONDONTWRITEBYTECODE=1 \
  "$release/.venv/bin/python" -m flask --app wsgi "${arguments[@]}"
