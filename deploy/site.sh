#!/usr/bin/env bash
# Puts the files of nginx in place, as they are in the tree that this script stands in; takes them back when nginx
# does not like them. Makes a certificate of its own where there is none yet.
#   deploy/site.sh festival.example
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
site=${1:?"the name of the site"}
etc=/etc/nginx tls=/etc/event-commerce/tls

install -d -m 0700 "$tls"
if [ ! -e "$tls/fullchain.pem" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj "/CN=$site" \
    -addext "subjectAltName=DNS:$site" -keyout "$tls/privkey.pem" -out "$tls/fullchain.pem" 2>/dev/null
fi

before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cp -a "$etc/." "$before/"

install -d -m 0755 "$etc/event-commerce/snippets" "$etc/event-commerce/nodes"
install -m 0644 "$here"/nginx/{http,site}.conf "$etc/event-commerce/"
install -m 0644 "$here"/nginx/snippets/*.conf "$etc/event-commerce/snippets/"
sed -i "s/festival\.example/$site/g" "$etc/event-commerce/site.conf"
# Pictures lie where the settings say: another folder than ours after a restore.
folder=$(sed -n "s|^STORAGE_URL='\{0,1\}file://\([^'?]*\).*|\1|p" /etc/event-commerce/environment 2>/dev/null | tail -n 1)
[ -z "$folder" ] || sed -i "s|^\( *root \)/var/lib/event-commerce/storage;|\1$folder;|" "$etc/event-commerce/site.conf"
# Whoever has sites of his own keeps his nginx.conf, once it includes ours.
grep -q event-commerce/site.conf "$etc/nginx.conf" || install -m 0644 "$here/nginx/nginx.conf" "$etc/nginx.conf"

if ! nginx -t -q; then
  rm -rf "$etc/event-commerce"
  cp -a "$before/." "$etc/"
  echo "nginx refuses the new files; the old ones are back." >&2
  exit 1
fi
systemctl enable --quiet nginx
# A reload ends idle connections of clients: not without a reason.
if systemctl is-active --quiet nginx && diff -qr "$before" "$etc" >/dev/null 2>&1; then exit; fi
systemctl reload-or-restart nginx
