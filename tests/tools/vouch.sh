#!/bin/sh
# vouch.sh PYTHON VERSION...: puts the reference implementation of vouch into .tools/vouch-VERSION, an environment for each version.
set -eu
python=$1
shift
tools=$(cd "$(dirname "$0")/../.." && pwd)/.tools
for version in "$@"; do
  into=$tools/vouch-$version
  if [ -x "$into/bin/vouch" ]; then continue; fi
  echo "fetching vouch $version" >&2
  rm -rf "$into"
  "$python" -m venv "$into"
  "$into/bin/python" -m pip install --quiet --disable-pip-version-check "vouch-kb==$version" || { rm -rf "$into"; exit 1; }
done
