#!/bin/sh
# postgresql.sh: installs PostgreSQL, which the tests of services/ store a registry in, where the system has none. No cluster is created.
set -eu
if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then exit 0; fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "PostgreSQL is absent: install it with the system's package manager; tests that need it are skipped, in CI they fail" >&2
  exit 0
fi
echo "fetching PostgreSQL" >&2
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
install() { DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends postgresql >/dev/null; }
install 2>/dev/null || { apt-get update --quiet --quiet; install; }
