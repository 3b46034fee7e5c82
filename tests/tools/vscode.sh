#!/bin/sh
# vscode.sh: puts a real VS Code, served to a browser, into .tools/vscode; Chromium and what its native modules are compiled with
# come from Debian. About four minutes and 0.8 GB, once. Needs node.sh before it.
set -eu
: "${CODE_SERVER_VERSION:=4.139.1}" # carries VS Code 1.139.1
tools=$(cd "$(dirname "$0")/../.." && pwd)/.tools
stamp=$tools/vscode/installed-$CODE_SERVER_VERSION
packages="chromium libkrb5-dev python3 make g++" # libkrb5-dev: one of the modules is not published compiled

if [ -e "$stamp" ] && command -v chromium >/dev/null; then exit 0; fi
if [ "$(uname -s)" != Linux ] || ! command -v apt-get >/dev/null; then
  echo "the tests in VS Code need Debian or Ubuntu: they are skipped here, in CI they fail" >&2
  exit 0
fi
echo "fetching and building VS Code: about four minutes" >&2
missing=$(for package in $packages; do dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q ' installed$' || echo "$package"; done)
if [ -n "$missing" ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "the tests in VS Code need packages: sudo apt-get install" $missing "; without them they are skipped, in CI they fail" >&2
    exit 0
  fi
  install() { DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends $missing >/dev/null; }
  install 2>/dev/null || { apt-get update --quiet --quiet; install; }
fi
if [ -e "$stamp" ]; then exit 0; fi

# The installation reads Node's version from npm's, and compiles against the headers that came with that Node.
rm -rf "$tools/vscode"
mkdir -p "$tools/vscode"
cd "$tools/vscode"
echo '{ "private": true }' >package.json
fetch() {
  PATH="$tools/bin:$PATH" npm_config_nodedir="$tools/node" \
    npm install --no-fund --no-audit --foreground-scripts "code-server@$CODE_SERVER_VERSION" >install.log 2>&1
}
fetch || fetch || { tail -n 40 install.log >&2; exit 1; } # a registry may drop one of a thousand packages once
touch "$stamp"
