#!/bin/sh
# lua.sh: puts luacheck into .tools/bin, from Debian, and stylua beside its configuration, from npm. Needs node.sh before it.
set -eu
cd "$(dirname "$0")/../.."
tools=$PWD/.tools
tests/tools/from-debian.sh luacheck lua-check
if [ -d "$tools/luacheck" ]; then # unpacked: its interpreter and modules are where Lua does not look
  unpacked=$tools/luacheck/usr
  lua=$(command -v lua5.1 || echo "$unpacked/bin/lua5.1")
  libraries=$(dirname "$(find "$tools/luacheck" -name '*.so*' | head -n 1)")
  printf '#!/bin/sh\nexport LUA_PATH="%s;;" LUA_CPATH="%s;;"\nLD_LIBRARY_PATH="%s" exec "%s" "%s" "$@"\n' \
    "$unpacked/share/lua/5.1/?.lua;$unpacked/share/lua/5.1/?/init.lua" "$libraries/lua/5.1/?.so" "$libraries" "$lua" \
    "$unpacked/bin/luacheck" >"$tools/bin/luacheck"
  "$tools/bin/luacheck" --version >/dev/null
fi

formatter=tests/tools/lua
if [ ! -e "$formatter/node_modules/.installed" ] || [ "$formatter/package-lock.json" -nt "$formatter/node_modules/.installed" ]; then
  echo "fetching the formatter for Lua" >&2
  (cd "$formatter" && PATH="$tools/bin:$PATH" npm ci --loglevel=error >/dev/null)
  touch "$formatter/node_modules/.installed"
fi
