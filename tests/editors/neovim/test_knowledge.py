"""Claims of the knowledge base: propose from a selection, decide, keep up to date, all on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.demo.workspace import build
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.editors.neovim.program import Neovim
from tests.server.knowledge_base import KnowledgeFiles
from tests.server.project import STORY

REVIEWER: Final = "vim.g.vibes = { settings = { reviewer = 'Ada Example' } }\n"
COUNTS: Final = """
    local counts = vim.b.vibes_status_dict or {}
    return { counts.claims or -1, counts.stale or -1, counts.proposed or -1 }"""


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeFiles:
    """A knowledge base in a project without a trail, with the story in `a.py`.

    Editors write the URI of its folder with parentheses, the server with their codes.
    """
    files = KnowledgeFiles(tmp_path / "known (1)")
    (files.project / "a.py").write_text(STORY, encoding="utf-8")
    return files


def statuses(kb: KnowledgeFiles) -> dict[str, str]:
    """Return the status of each approved claim by its text."""
    claims = (yaml.safe_load(file.read_bytes()) for file in (kb.path / "claims").glob("*.yaml"))
    return {each["text"]: each["status"] for each in claims}


def waits_for_counts(editor: Neovim, claims: int, stale: int, proposed: int) -> None:
    """Wait until the status of the buffer has these counts."""
    counts = [claims, stale, proposed]
    editor.until(lambda: editor.lua(COUNTS) == counts, f"claims, stale and proposed {counts}")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_a_claim_is_proposed_approved_turns_stale_and_is_anchored_again(
    open_neovim: Open, kb: KnowledgeFiles, suite: str
) -> None:
    editor = open_neovim(suite, kb.project, "a.py", REVIEWER, size=(90, 40))
    editor.until(editor.is_attached, "the server, where there is no trail")
    editor.go_to(4)
    editor.terminal.text("V3j:Vibes propose")
    editor.terminal.keys("Enter")
    editor.answer("What do these lines show?", "Digests are SHA-256.")
    editor.choose("fact")
    editor.terminal.shows("vibes: claim proposed")
    waits_for_counts(editor, 0, 0, 1)
    assert editor.lua("return require('vibes').statusline()") == ""

    editor.command("Vibes review")
    editor.terminal.shows(
        "VIBES: 1 proposed", "a.py|4-7", "proposed claim · “Digests are SHA-256.”"
    )
    editor.terminal.keys("a")
    editor.terminal.shows("vibes: approved: “Digests are SHA-256.”", "VIBES: 0 to review")
    assert statuses(kb) == {"Digests are SHA-256.": "working"}
    editor.command("cclose")
    waits_for_counts(editor, 1, 0, 0)

    editor.go_to(6)
    editor.command("Vibes claims")
    shown = editor.terminal.shows(
        "VIBES claims", "Claim · fact", "Digests are SHA-256.", "approved by Ada"
    )
    assert "Evidence: lines 4-7, as quoted" in shown
    assert "│ def digest(payload: bytes) -> str:" in shown
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")

    editor.lua(
        "vim.api.nvim_buf_set_lines(0, 5, 6, false, { '    seen = hashlib.sha512(payload)' })"
    )
    waits_for_counts(editor, 1, 1, 0)
    editor.command("Vibes claims")
    editor.terminal.shows("Evidence: lines 4-7, edited since")
    # another program's edit while the window is open: its lines are those of an older text
    append = "vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.py'), -1, -1, false, { '# new' })"
    editor.lua(append)
    editor.terminal.keys("n")
    editor.terminal.shows("the range is for version")
    editor.terminal.keys("Enter", "q")
    editor.until(lambda: not editor.floats(), "the window to close")
    editor.command("Vibes claims")
    editor.terminal.shows("Evidence: lines 4-7, edited since")
    editor.terminal.keys("n")
    editor.until(lambda: "4-7, as quoted" in editor.floats(), "new evidence")
    assert "hashlib.sha512" in editor.floats()
    editor.terminal.keys("q")
    waits_for_counts(editor, 1, 0, 0)
    assert '"replaces"' in kb.events()[-1]


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_a_list_has_reviews_and_proposals_and_its_keys_decide(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build(tmp_path / "shop")
    kb = KnowledgeFiles(workspace.root)
    text = (workspace.root / "src/auth.py").read_text(encoding="utf-8")
    source = kb.source("src/auth.py", text)
    kb.proposal("p-1", "Passwords are hashed.", kb.evidence("ev-1", source, "L23-L27"))
    kb.proposal("p-2", "Nothing shows this.")
    editor = open_neovim(suite, workspace.root, "src/auth.py", REVIEWER, size=(150, 45))
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.command("Vibes review")
    editor.terminal.shows(
        "VIBES: 5 to review, 2 proposed",
        "hash_password · 0.84 critical",
        "src/auth.py|23-27",
        "proposed claim · “Passwords are hashed.” · by codex",
        "“Nothing shows this.”",
    )
    editor.terminal.keys("?")
    editor.terminal.shows("VIBES keys", "Reject, with a note or reason")
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the keys to close")

    editor.lua("vim.fn.search('Nothing shows this')")
    editor.terminal.keys("r")
    editor.answer("Why is it rejected?", "Without evidence.")
    editor.terminal.shows("VIBES: 5 to review, 1 proposed")
    (decided,) = (kb.path / "decided").glob("*.yaml")
    assert yaml.safe_load(decided.read_bytes())["decision_reason"] == "Without evidence."
    editor.lua("vim.fn.search('hash_password')")
    editor.terminal.keys("a")
    editor.terminal.shows("VIBES: 4 to review, 1 proposed")
    editor.lua("vim.fn.search('Passwords are hashed')")
    editor.terminal.keys("Enter")
    editor.until(lambda: editor.lua("return vim.fn.line('.')") == 23, "the lines of the proposal")
    editor.command("Vibes claims")
    editor.terminal.shows(
        "Proposed claim", "Passwords are hashed.", "proposed by codex", "a approve"
    )
    editor.terminal.keys("c")
    editor.terminal.shows("vibes: this is for claims; ? shows the keys")
    editor.terminal.keys("a")
    editor.terminal.shows("VIBES: 4 to review · ?", "Claim · ")

    editor.command("wincmd p")
    editor.command(
        "call setqflist([], ' ', #{title: 'mine', items: [#{text: 'first'}, #{text: 'mark'}]})"
    )
    editor.command("copen")
    editor.terminal.keys("?mark", "Enter")
    editor.until(lambda: editor.lua("return vim.fn.line('.')") == 2, "a search, as in any list")


LATE: Final = """
    local server = require('vibes.server')
    local run, held = server.run, {}
    server.run = function(bufnr, command, argument, callback)
      if command ~= 'vibes.kbAt' then return run(bufnr, command, argument, callback) end
      table.insert(held, callback)
    end
    local knowledge, project = require('vibes.knowledge'), vim.uri_from_fname(vim.fn.getcwd())
    knowledge.refresh(project)
    knowledge.refresh(project)
    server.run = run
    local new = { project = project, claims = {}, pending = {} }
    held[2](nil, new)
    held[1](nil, vim.tbl_extend('force', new, { claims = { { claimId = 'gone' } } }))
    return { #held, knowledge.counts(vim.api.nvim_get_current_buf()).claims }"""


def test_an_answer_that_a_newer_one_overtook_is_not_shown(
    open_neovim: Open, kb: KnowledgeFiles
) -> None:
    source = kb.source("a.py", STORY)
    quote = "\n".join(STORY.splitlines()[3:7])
    kb.claim("old", "It is MD5.", kb.evidence("ev-old", source, "L4-L7", quote=quote))
    editor = open_neovim(NEW, kb.project, "a.py", REVIEWER)
    editor.until(editor.is_attached, "the server")
    waits_for_counts(editor, 1, 0, 0)
    assert editor.lua(LATE) == [2, 0]


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_claims_are_confirmed_superseded_archived_and_lost_ones_found_again(
    open_neovim: Open, kb: KnowledgeFiles, suite: str
) -> None:
    source = kb.source("a.py", STORY)
    quote = "\n".join(STORY.splitlines()[3:7])
    for name, text in (("old", "It is MD5."), ("new", "It is SHA-256."), ("lost", "It is fast.")):
        kb.claim(name, text, kb.evidence(f"ev-{name}", source, "L4-L7", quote=quote))
    editor = open_neovim(suite, kb.project, "a.py", REVIEWER, size=(90, 45))
    editor.until(editor.is_attached, "the server")
    waits_for_counts(editor, 3, 0, 0)
    editor.go_to(5)
    editor.command("Vibes claims")
    keys = "c confirm · s supersede · d contradict · x archive · n evidence · ? keys"
    editor.terminal.shows("It is MD5.", "It is SHA-256.", "approved by Grace · changed", keys)

    editor.lua("vim.fn.search('It is fast')")
    editor.terminal.keys("d")
    editor.choose("It is MD5. (fact)")
    editor.terminal.shows("vibes: contested by “It is MD5.”")
    assert statuses(kb)["It is fast."] == statuses(kb)["It is MD5."] == "contested"
    editor.lua("vim.cmd('normal! gg') vim.fn.search('It is SHA-256')")
    editor.terminal.keys("c")
    editor.terminal.shows("vibes: confirmed: “It is SHA-256.”")
    assert "last_confirmed_at" in (kb.path / "claims/new.yaml").read_text(encoding="utf-8")
    editor.lua("vim.cmd('normal! gg') vim.fn.search('It is MD5')")
    editor.terminal.keys("s")
    editor.choose("It is SHA-256. (fact)")
    editor.until(lambda: "It is MD5." not in editor.floats(), "the superseded claim to go")
    assert statuses(kb)["It is MD5."] == "superseded"
    editor.lua("vim.cmd('normal! gg') vim.fn.search('It is SHA-256')")
    editor.terminal.keys("x")
    editor.answer("Why is it archived?", "Not needed.")
    editor.until(lambda: "It is SHA-256." not in editor.floats(), "the archived claim to go")
    assert statuses(kb)["It is SHA-256."] == "archived"
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")

    editor.lua("vim.api.nvim_buf_set_lines(0, 3, 7, false, {})")
    waits_for_counts(editor, 1, 1, 0)
    editor.command("checkhealth vibes")
    editor.terminal.shows("attached, knowledge base in", "1 of 1 claims about it rest on lines")
    editor.command("quit")
    editor.go_to(4)
    editor.command("Vibes claims")
    editor.terminal.shows("no claim is about this line; :Vibes claims all lists those of the file")
    editor.command("6,7Vibes claims all")
    editor.terminal.shows("Evidence: lines 4-7, could not be found")
    editor.terminal.keys("n")
    editor.until(lambda: "Evidence: lines 6-7, as quoted" in editor.floats(), "its new lines")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_evidence_that_cannot_be_verified_is_not_called_stale(
    open_neovim: Open, kb: KnowledgeFiles, suite: str
) -> None:
    source = kb.source("a.py", STORY, captured=False)
    kb.claim("c", "Digests are fast.", kb.evidence("ev", source, "L4-L7"))
    editor = open_neovim(suite, kb.project, "a.py", REVIEWER, size=(90, 40))
    waits_for_counts(editor, 1, 0, 0)
    editor.go_to(4)
    editor.command("Vibes claims all")
    editor.terminal.shows("Digests are fast.", "not verified")
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")
    editor.command("checkhealth vibes")
    editor.terminal.shows("claims about it: 1, proposals that wait: 0")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_lens_hover_and_code_actions_lead_to_the_same_questions_and_window(
    open_neovim: Open, kb: KnowledgeFiles, suite: str
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    kb.proposal("p", "It is fast.", "ev-c")
    kb.claim("other", "It is slow.")
    lenses = "vim.g.vibes = { settings = { reviewer = 'Ada Example' }, code_lens = true }\n"
    editor = open_neovim(suite, kb.project, "a.py", lenses, size=(110, 45))
    editor.terminal.shows("1 claim, 1 pending")  # the lens
    assert "It is fast." in editor.hover(4, 5, "Claim c.")
    editor.go_to(4)
    editor.lua("vim.lsp.codelens.run()")
    editor.terminal.shows("VIBES claims", "Proposed claim", "Claim c.")
    editor.terminal.keys("q")
    editor.until(lambda: not editor.floats(), "the window to close")

    editor.choose_action("Reject with reason…: “It is fast.”")
    editor.answer("Why is it rejected?", "Nobody measured.")
    editor.until(lambda: not (kb.path / "proposed/p.yaml").exists(), "the rejection")
    editor.choose_action("Supersede claim…: “Claim c.”")
    editor.choose("It is slow. (fact)")
    editor.until(lambda: statuses(kb)["Claim c."] == "superseded", "the change")
    editor.choose_action("Propose a claim about this line…")
    editor.answer("What do these lines show?", "It has a docstring.")
    editor.choose("observation")
    editor.until(lambda: list((kb.path / "proposed").glob("*.yaml")), "the proposal")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_the_lua_api_asks_proposes_and_reports_errors(
    open_neovim: Open, kb: KnowledgeFiles, suite: str
) -> None:
    kb.cited("a.py", STORY, "L4-L7")
    editor = open_neovim(suite, kb.project, "a.py", REVIEWER)
    editor.until(editor.is_attached, "the server")

    def call(expression: str) -> tuple[object, object]:
        code = "GOT = nil local function keep(err, result) GOT = { err or vim.NIL, result or vim.NIL } end"
        editor.lua(f"{code} require('vibes').{expression}")
        error, result = editor.until(lambda: editor.lua("return GOT"), expression)
        return error, result

    _, found = call("claims_at(0, 5, keep)")
    assert isinstance(found, dict)
    assert [each["claimId"] for each in found["claims"]] == ["c"]
    lines = "{ start = { line = 9, character = 0 }, ['end'] = { line = 13, character = 0 } }"
    _, proposed = call(f"propose_claim(0, {{ range = {lines}, text = 'It compares.' }}, keep)")
    assert isinstance(proposed, dict)
    assert (kb.path / f"proposed/{proposed['proposalId']}.yaml").is_file()
    _, status = call("knowledge(0, { method = 'kb.status' }, keep)")
    assert isinstance(status, dict)

    for wrong, message in {
        "claims_at(0, nil, keep)": "line must be a number, not nil (:help vibes.claims_at())",
        "propose_claim(0, 'x', keep)": 'claim must be a table, not "x"',
        f"propose_claim(0, {{ range = {lines}, text = ' ' }}, keep)": "text: is empty",
        "knowledge(0, { method = 'kb.nothing' }, keep)": "no method 'kb.nothing'",
        "knowledge(0, { method = 'kb.read_claim' }, keep)": "is required",
        "knowledge(0, { method = 'kb.approve' }, keep)": "kb.approve is for a person",
    }.items():
        error, _ = call(wrong)
        assert message in str(error)


HOSTILE: Final = (
    "x\x1b[31mred\x1b]8;;http://example.org\x07 \u202e %{system('touch owned')}"
    " <Cmd>silent !touch owned<CR> `](command:x) vim: set foldmethod=marker:"
)


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_hostile_texts_are_inert(open_neovim: Open, kb: KnowledgeFiles, suite: str) -> None:
    source = kb.source("a.py", STORY)
    evidence = kb.evidence("ev", source, "L4-L7", quote=HOSTILE)
    kb.claim("c", HOSTILE, evidence, approved_by=HOSTILE)
    kb.proposal("p", HOSTILE, evidence, by=HOSTILE)
    editor = open_neovim(suite, kb.project, "a.py", REVIEWER)
    waits_for_counts(editor, 1, 0, 1)
    editor.go_to(5)
    editor.command("Vibes claims all")
    editor.terminal.shows("x\\u001b[31mred", "\\u202e %{system('touch owned')}")
    options = "return { vim.wo.foldmethod, vim.bo.filetype, vim.bo.buftype, vim.bo.modifiable }"
    assert editor.lua(options) == ["manual", "", "nofile", False]
    editor.terminal.keys("a")
    editor.terminal.shows("approved: “x\\u001b[31mred")
    editor.terminal.keys("q")
    kb.proposal("q", HOSTILE, evidence, by=HOSTILE)
    editor.command("Vibes review")
    editor.terminal.shows("VIBES: 1 proposed", "“x\\u001b[31mred")
    assert not (kb.project / "owned").exists()
