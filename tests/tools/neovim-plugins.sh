#!/bin/sh
# neovim-plugins.sh: puts the Neovim plugins that ours is tested with into .tools/neovim-plugins, each at one commit. Needs git.
#
# They are in no package index, so they are cloned from where they are published; GITSIGNS_REPOSITORY and LAZY_REPOSITORY may name
# copies. Where that fails, it says so, and the tests with them are skipped, in CI too.
set -eu
into=$(cd "$(dirname "$0")/../.." && pwd)/.tools/neovim-plugins

fetch() { # NAME REPOSITORY COMMIT
  if [ "$(git -C "$into/$1" rev-parse --quiet --verify HEAD 2>/dev/null)" = "$3" ]; then return; fi
  rm -rf "${into:?}/$1"
  git init --quiet "$into/$1"
  if ! { GIT_TERMINAL_PROMPT=0 timeout 120 git -C "$into/$1" fetch --quiet --depth 1 "$2" "$3" && git -C "$into/$1" checkout --quiet --detach FETCH_HEAD; } 2>/dev/null; then
    rm -rf "${into:?}/$1"
    echo "$1 cannot be fetched from $2: tests with it are skipped" >&2
  fi
}
mkdir -p "$into"
fetch gitsigns.nvim "${GITSIGNS_REPOSITORY:-https://github.com/lewis6991/gitsigns.nvim}" a462f416e2ce4744531c6256252dee99a7d34a83 # 2.1.0
fetch lazy.nvim "${LAZY_REPOSITORY:-https://github.com/folke/lazy.nvim}" 85c7ff3711b730b4030d03144f6db6375044ae82                 # 11.17.5
