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
query = parse_qsl(url.query)
if url.scheme.partition("+")[0] not in ("postgresql", "postgres"):
    sys.exit("DATABASE_URL is no address of a PostgreSQL database.")
known = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "sslmode": "PGSSLMODE",
         "sslrootcert": "PGSSLROOTCERT", "target_session_attrs": "PGTARGETSESSIONATTRS"}
given = {"host": url.hostname, "port": url.port, "user": url.username, "password": url.password}
given |= {name: value for name, value in query if name in known}
hosts = [value for name, value in query if name == "host"]
if len(hosts) > 1:
    places = [value.partition(":") for value in hosts]
    given |= {"host": ",".join(host for host, _, _ in places), "port": ",".join(port for _, _, port in places)}
values = {known[name]: unquote(str(value)) for name, value in given.items() if value}
values["PGDATABASE"] = unquote(url.path.lstrip("/"))
print(*(f"export {name}={shlex.quote(value)}" for name, value in values.items()), sep="\n")
PYTHON
  ) || return 1
  eval "$words"
}
