#!/bin/sh
# What nginx runs in its container: the same files as on a machine, with a second socket that is asked while the web's
# own container is exchanged, and logs on the container's own output. Pictures come through the program, and from
# nginx's cache after that. With `reload` it takes up files that have changed; idle connections end then, so not without.
set -eu

from=/opt/event-commerce/current/deploy/nginx to=/tmp/nginx
rm -rf "$to.new"
mkdir -p "$to.new/snippets" /var/cache/nginx/event-commerce
cp "$from"/*.conf "$to.new/"
cp "$from"/snippets/*.conf "$to.new/snippets/"
sed -i -e "s#/etc/nginx/event-commerce/#$to/#" -e "s/festival\.example/${SITE:?}/g" \
  -e "s#^    keepalive 32;#    server unix:/run/event-commerce/spare.sock max_fails=0 backup;\n&#" \
  -e "s#/var/log/nginx/event-commerce.log#/dev/stdout#" -e "s#/var/log/nginx/.*error.log#/dev/stderr#" \
  -e "s/^user www-data;/user nginx;/" "$to.new"/*.conf "$to.new"/snippets/*.conf
[ "${1:-}" != reload ] || ! diff -r "$to" "$to.new" >/dev/null || exit 0
rm -rf "$to"
mv "$to.new" "$to"
[ "${1:-}" != reload ] || exec nginx -c "$to/nginx.conf" -s reload
exec nginx -c "$to/nginx.conf" -g "daemon off;"
