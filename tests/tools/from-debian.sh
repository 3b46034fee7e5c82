#!/bin/sh
# from-debian.sh PROGRAM [PACKAGE [MORE…]]: puts PROGRAM, and MORE of its package, into .tools/bin, where the system has none.
#
# Debian's package, with the libraries that the system lacks, is unpacked into .tools/PROGRAM; nothing is installed. Needs
# apt-get, and root the first time if the package lists are missing. Elsewhere it says what to install.
set -eu
program=$1 package=${2:-$1}
[ $# -lt 3 ] || shift 2
tools=$(cd "$(dirname "$0")/../.." && pwd)/.tools
if command -v "$program" >/dev/null || [ -x "$tools/bin/$program" ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "$program is absent: install it with the system's package manager; tests that need it are skipped, in CI they fail" >&2
  exit 0
fi

echo "fetching $program" >&2
into=$tools/$program
rm -rf "$into"
mkdir -p "$into/apt/archives/partial" "$tools/bin"
download() {
  apt-get install --quiet --quiet --yes --download-only --no-install-recommends --option Debug::NoLocking=1 \
    --option Dir::Cache::archives="$into/apt/archives" "$package" >"$into/apt/log" 2>&1
}
download || { apt-get update --quiet --quiet >"$into/apt/log" 2>&1; download; } || { cat "$into/apt/log" >&2; exit 1; }
for archive in "$into"/apt/archives/*.deb; do dpkg-deb --extract "$archive" "$into"; done
rm -rf "$into/apt"

libraries=$(dirname "$(find "$into" -name '*.so*' | head -n 1)")
for each in "$@" "$program"; do
  [ -x "$into/usr/bin/$each" ] || continue # the name of the package
  printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "$libraries" "$into/usr/bin/$each" >"$tools/bin/$each.new"
  chmod +x "$tools/bin/$each.new"
  mv "$tools/bin/$each.new" "$tools/bin/$each"
done
