#!/usr/bin/env bash
# Puts the units of systemd in place, as they are in the tree that this script stands in.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
install -m 0644 "$here"/systemd/event-commerce*.{service,socket,target,timer} /etc/systemd/system/
for folder in "$here"/systemd/*.d; do
  install -d -m 0755 "/etc/systemd/system/${folder##*/}"
  install -m 0644 "$folder"/*.conf "/etc/systemd/system/${folder##*/}/"
done
systemctl daemon-reload
