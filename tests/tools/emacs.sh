#!/bin/sh
# emacs.sh: installs Debian's Emacs, and eglot where Emacs does not bring it (before 29). As root; elsewhere it says what to install.
set -eu
has_eglot() { emacs --batch --eval "(progn (package-initialize) (require 'eglot))" >/dev/null 2>&1; }
if has_eglot; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "the tests in Emacs need it, with eglot: sudo apt-get install emacs-nox elpa-eglot; without them they are skipped, in CI they fail" >&2
  exit 0
fi
install() { DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends "$@" >/dev/null; }
if ! command -v emacs >/dev/null; then install emacs-nox 2>/dev/null || { apt-get update --quiet --quiet && install emacs-nox; }; fi
has_eglot || install elpa-eglot
has_eglot
