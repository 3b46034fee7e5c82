#!/bin/sh
# from-suite.sh SUITE PACKAGES PROGRAM [VARIABLE=FOLDER[:FOLDER ...] ...]: puts PROGRAM of a Debian suite into .tools/bin, as PROGRAM-SUITE.
#
# The packages are unpacked into .tools/PROGRAM-SUITE with every library that they need, the C library included; nothing is installed, and
# root is not needed. Each VARIABLE is set to its folders inside that; a folder may be a pattern. Needs patchelf (from-debian.sh). Debian on
# x86-64 only: elsewhere it says so.
set -eu
suite=$1 packages=$2 program=$3
shift 3
tools=$(cd "$(dirname "$0")/../.." && pwd)/.tools
name=$program-$suite into=$tools/$program-$suite
if [ -x "$tools/bin/$name" ]; then exit 0; fi
if ! grep -q '^ID=debian$' /etc/os-release 2>/dev/null || [ "$(uname -m)" != x86_64 ]; then
  echo "$name needs Debian on x86-64: tests in it are skipped here, in CI they fail" >&2
  exit 0
fi

echo "fetching $name" >&2
rm -rf "$into"
mkdir -p "$into/apt/sources" "$into/apt/lists/partial" "$into/apt/archives/partial" "$tools/bin"
: >"$into/apt/status" # with no package installed, apt fetches all that it takes
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
  "${mirror:-http://deb.debian.org/debian}" "$suite" >"$into/apt/sources/suite.sources"
apt() {
  apt-get --quiet --quiet --option Debug::NoLocking=1 --option APT::Sandbox::User="$(id -un)" \
    --option Dir::Etc::SourceList=/dev/null --option Dir::Etc::SourceParts="$into/apt/sources" \
    --option Dir::State::Lists="$into/apt/lists" --option Dir::State::status="$into/apt/status" \
    --option Dir::Cache="$into/apt" --option Acquire::Retries=3 --option Acquire::Languages=none "$@" >>"$into/apt/log" 2>&1
}
download() { apt update && apt install --yes --download-only --no-install-recommends $packages; }
download || download || { cat "$into/apt/log" >&2; exit 1; } # a suite may change between its list and its files
for archive in "$into"/apt/archives/*.deb; do dpkg-deb --extract "$archive" "$into"; done
rm -rf "$into/apt"

# The loader and the libraries are written into the program: it can start itself again, and what it starts has the system's libraries.
binary=$(readlink -f "$into/usr/bin/$program")
PATH="$PATH:$tools/bin" patchelf --set-interpreter "$(find "$into" -name ld-linux-x86-64.so.2 | head -n 1)" --force-rpath \
  --set-rpath "$into/usr/lib/x86_64-linux-gnu:$into/lib/x86_64-linux-gnu" "$binary"
inside() { (cd "$into" && IFS=: && printf "$into/%s\n" $1) | paste -s -d :; }
{
  echo '#!/bin/sh'
  for variable in "$@"; do echo "export ${variable%%=*}='$(inside "${variable#*=}")'"; done
  echo "exec '$binary' \"\$@\""
} >"$tools/bin/$name.new"
chmod +x "$tools/bin/$name.new"
mv "$tools/bin/$name.new" "$tools/bin/$name"
"$tools/bin/$name" --version >/dev/null
