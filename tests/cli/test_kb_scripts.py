"""A shell script written for the reference's command runs with `vibes kb` in its place."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import forked

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.name == "nt", reason="a script for sh"),
]

SCRIPT = r"""
set -eu
vouch() { VOUCH_COMPAT=vouch-1.5 "$VIBES" kb "$@"; }
export VOUCH_AGENT=agent
vouch init --path "$1/base" >/dev/null
cd "$1/base"
printf 'tokens live ten minutes\nthen one hour\n' > rfc.md
note=$(vouch source add rfc.md --title RFC --type file)
old=$(vouch propose-claim --text 'Tokens live ten minutes.' --source "$note" --type observation \
  --confidence 0.7 --rationale 'from the RFC')
new=$(vouch propose-claim --text 'Tokens live one hour.' --source "$note" --type fact)
wrong=$(vouch propose-claim --text 'Tokens live forever.' --source "$note")
test "$(vouch pending | grep -c "$(date +%Y)")" = 3
if vouch approve "$old" 2>/dev/null; then echo 'self-approval' >&2; exit 1; fi
person() { VOUCH_AGENT=person vouch "$@"; }
person reject "$wrong" --reason 'not in the RFC' >/dev/null
old=$(person approve "$old" | sed -n 's/.*claim\///p')
new=$(person approve "$new" | sed -n 's/.*claim\///p')
one=$(vouch propose-entity --name Tokens --type concept)
two=$(vouch propose-entity --name Login --type api)
person approve "$one" "$two" >/dev/null
edge=$(vouch propose-relation --from login --rel uses --to tokens)
page=$(echo "See [[$new]]." | vouch propose-page --title 'About tokens' --type concept --body - \
  --claim "$new")
person approve "$edge" "$page" >/dev/null
person supersede "$old" "$new" >/dev/null
other=$(vouch propose-claim --text 'Tokens are never renewed.' --source "$note")
other=$(person approve "$other" | sed -n 's/.*claim\///p')
person contradict "$new" "$other" >/dev/null
person confirm "$new" >/dev/null
person archive "$other" >/dev/null
session=$(vouch session start --agent agent --task 'look at tokens')
if vouch session start --agent person 2>/dev/null; then echo 'another agent' >&2; exit 1; fi
vouch session end "$session" >/dev/null
vouch expire --json | grep -q '"expired": \[\]'
vouch expire --apply >/dev/null
vouch index >/dev/null
vouch lint --stale-days 30
vouch doctor
vouch source verify >/dev/null
vouch status | grep -q 'claims *3'
vouch search tokens --json | grep -q "$new"
vouch search 'kens li' --backend substring --json | grep -q '^  "backend": "substring"'
vouch stats --json | grep -q '"coverage_rate": 1'
vouch context 'how long do tokens live' --max-chars 500 --min-items 1 --require-citations \
  | grep -q '"ok": true'
vouch audit --tail 50 | grep -q claim.supersede
vouch audit --json --tail 50 | grep -q proposal.reject
vouch capabilities | grep -q kb.propose_claim
echo '{"id":"1","method":"kb.list_claims","params":{}}' | vouch serve --transport jsonl \
  | grep -q '"items":'
vouch export --out "$1/kb.tar.gz" >/dev/null
vouch export-check "$1/kb.tar.gz" >/dev/null
vouch init --path "$1/copy" >/dev/null
cd "$1/copy"
vouch import-check "$1/kb.tar.gz" | grep -q ' 0 conflicting'
person import-apply "$1/kb.tar.gz" >/dev/null
vouch read-claim "$new" | grep -q 'one hour'
vouch doctor
"""


def test_a_script_for_the_reference_runs_to_its_end(tmp_path: Path) -> None:
    environment = {name: each for name, each in os.environ.items() if name != "VOUCH_KB_PATH"}
    done = subprocess.run(
        ["sh", "-c", SCRIPT, "sh", str(tmp_path)],
        env={**environment, "VIBES": str(forked.program())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    found = [line for line in done.stdout.splitlines() if not line.startswith("info: ")]
    assert found == ["0 errors, 0 warnings"] * 3  # of lint, of doctor, and in the copy
