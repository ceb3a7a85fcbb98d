# shellcheck shell=bash
# For backup.sh and restore.sh: the environment that PostgreSQL's programs read, from a URL. A password stays out of
# the list of processes that way.
database_environment() {
  local words
  words=$(python3 - "$1" <<'PYTHON'
import shlex
import sys
from urllib.parse import parse_qsl, unquote, urlsplit

url = urlsplit(sys.argv[1])
if url.scheme.partition("+")[0] not in ("postgresql", "postgres"):
    sys.exit("DATABASE_URL is no address of a PostgreSQL database.")
known = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "sslmode": "PGSSLMODE",
         "sslrootcert": "PGSSLROOTCERT"}
given = {"host": url.hostname, "port": url.port, "user": url.username, "password": url.password}
given |= {name: value for name, value in parse_qsl(url.query) if name in known}
values = {known[name]: unquote(str(value)) for name, value in given.items() if value}
values["PGDATABASE"] = unquote(url.path.lstrip("/"))
print(*(f"export {name}={shlex.quote(value)}" for name, value in values.items()), sep="\n")
PYTHON
  ) || return 1
  eval "$words"
}
