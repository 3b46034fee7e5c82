#!/bin/sh
# emacs.sh SUITE: puts the Emacs of a Debian suite into .tools/bin, as emacs-nox-SUITE, with eglot. Needs what from-suite.sh needs.
set -eu
suite=$1
tools=$(cd "$(dirname "$0")/../.." && pwd)/.tools
emacs=$tools/bin/emacs-nox-$suite into=$tools/emacs-nox-$suite
packages=emacs-nox
[ "$suite" != bookworm ] || packages="emacs-nox elpa-eglot elpa-markdown-mode" # before 29 it brings no eglot; with the other, hovers are Markdown
"$(dirname "$0")/from-suite.sh" "$suite" "$packages" emacs-nox \
  "EMACSLOADPATH=usr/share/emacs/*/lisp:usr/share/emacs/site-lisp" \
  "EMACSDATA=usr/share/emacs/*/etc" "EMACSDOC=usr/share/emacs/*/etc" "EMACSPATH=usr/libexec/emacs/*/x86_64-linux-gnu"
if [ ! -x "$emacs" ] || [ -e "$into/.whole" ]; then exit 0; fi

# Its heap, dumped when it was built, is looked for beside the program; its packages, where Debian's installation would have put them.
ln -sf "$into"/usr/libexec/emacs/*/x86_64-linux-gnu/emacs*.pdmp "$into/usr/bin/emacs-nox.pdmp"
packaged=$into/usr/share/emacs/site-lisp
if [ -d "$packaged/elpa-src" ]; then
  ln -sfn elpa-src "$packaged/elpa"
  "$emacs" --quick --batch --funcall package-activate-all --eval "(byte-recompile-directory \"$packaged/elpa/\" 0)" >"$into/log" 2>&1
fi
"$emacs" --quick --batch --funcall package-activate-all --eval "(require 'eglot)"
touch "$into/.whole"
