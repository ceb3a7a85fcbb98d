#!/bin/sh
# What nginx runs in its container: the same files as on a machine, with the program on the network instead of a
# socket, and logs on the container's own output. Pictures come through the program, and from nginx's cache after that.
set -eu

from=/opt/event-commerce/current/deploy/nginx to=/tmp/nginx
mkdir -p "$to/snippets" /var/cache/nginx/event-commerce
cp "$from"/*.conf "$to/"
cp "$from"/snippets/*.conf "$to/snippets/"
sed -i -e "s#/etc/nginx/event-commerce/#$to/#" -e "s/festival\.example/${SITE:?}/g" \
  -e "s#server unix:/run/event-commerce/web.sock#server web:8000#" \
  -e "s#/var/log/nginx/event-commerce.log#/dev/stdout#" -e "s#/var/log/nginx/.*error.log#/dev/stderr#" \
  -e "s/^user www-data;/user nginx;/" "$to"/*.conf "$to"/snippets/*.conf
exec nginx -c "$to/nginx.conf" -g "daemon off;"
