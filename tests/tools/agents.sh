#!/bin/sh
# agents.sh [nightly]: puts the coding agents that tests run into .tools/agents: about 1.1 GB, and 2.1 GB with those of the nightly tests.
# Their install scripts are not run: the tests start the programs in the packages. Needs node.sh before it.
set -eu
cd "$(dirname "$0")/../.."
which=${1:-every-run}
tools=$PWD/.tools
agents=$tools/agents
source=$PWD/tests/tools/agents

current() { [ -e "$agents/installed-$1" ] && cmp -s "$source/package-lock.json" "$agents/package-lock.json"; }
if current "$which" || current nightly; then exit 0; fi
if [ "$(uname -s)" != Linux ]; then
  echo "the tests with real coding agents run on Linux only" >&2
  exit 0
fi

echo "fetching coding agents" >&2
mkdir -p "$agents"
rm -f "$agents"/installed-*
cp "$source/package.json" "$source/package-lock.json" "$agents"
fetch() {
  (cd "$agents" && PATH="$tools/bin:$PATH" \
    npm install --no-save --ignore-scripts $([ "$which" = nightly ] || echo --omit=dev) --no-audit --no-fund --loglevel=error >/dev/null)
}
fetch || fetch # a registry may drop one of a thousand packages once
touch "$agents/installed-$which"
