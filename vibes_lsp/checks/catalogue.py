"""The catalogue of findings of `vibes check`: id, severity, title, reason and advice.

`docs/checks.md` and the SARIF rules are generated from it.
"""

from __future__ import annotations

from typing import Final

from vibes_lsp.checks.base_catalogue import BASE_CHECKS
from vibes_lsp.checks.finding import Check, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

# --- files ---------------------------------------------------------------------------------------

FILE_UNREADABLE: Final = Check(
    "file-unreadable",
    _E,
    "A file of the trail cannot be read",
    "Its content cannot be checked (RFC 4.1).",
    "Make it a readable regular file; a folder, a pipe or a link out of `.ai-audit/` is not read.",
)
CONFLICT_MARKER: Final = Check(
    "conflict-marker",
    _E,
    "A file contains git conflict markers",
    "The log is still read around the markers, but the manifest is not valid JSON (R12, R13).",
    "Keep both sides: delete only the marker lines. The attributes that `vibes init` writes "
    "avoid the conflict.",
)
CONFIG_MISSING: Final = Check(
    "config-missing",
    _E,
    "config.json is missing",
    "The policy and the assurance level are unknown; readers assume medium (RFC 8.1).",
    "Run `vibes init`, which creates missing files and keeps existing ones.",
)
CONFIG_JSON: Final = Check(
    "config-json",
    _E,
    "config.json is not a JSON object",
    "The policy is ignored and defaults apply (RFC 8.1).",
    "Correct the JSON at the reported line.",
)
CONFIG_FIELD: Final = Check(
    "config-field",
    _E,
    "A member of config.json is missing or invalid",
    "The member is ignored and its default applies (RFC 8.1, 10.4.6).",
    "Correct the member; the message says which values are valid.",
)
MANIFEST_MISSING: Final = Check(
    "manifest-missing",
    _E,
    "manifest.json is missing",
    "Tool, model and prompt of every annotation are unknown (RFC 6). A note if git ignores "
    "the file.",
    "Restore it from version control, or ask the people who recorded the trail.",
)
MANIFEST_JSON: Final = Check(
    "manifest-json",
    _E,
    "manifest.json is not a valid manifest",
    "Entries on intact lines are still read; the file is not written until it is corrected (R10).",
    "Correct the JSON at the reported line.",
)
MANIFEST_FRAME: Final = Check(
    "manifest-frame",
    _E,
    "`standard` or `version` of the manifest is missing or invalid",
    "Readers identify the format by them (RFC 6.1).",
    'Set `"standard": "VIBES"` and `"version": "1.0"`.',
)
MANIFEST_DUPLICATE: Final = Check(
    "manifest-duplicate",
    _E,
    "A manifest key occurs twice with different entries",
    "Only one of them can be the entry that the key was computed from (RFC 5.2, R10).",
    "Remove the entry whose hash does not match the key.",
)
MANIFEST_JSONL: Final = Check(
    "manifest-jsonl",
    _N,
    "The manifest uses the interim JSONL format",
    "RFC 9.3 allows one entry per line, but other tools may not read it.",
    "No action needed; the next write by `vibes` converts it to a JSON object.",
)
JOURNAL_PENDING: Final = Check(
    "journal-pending",
    _N,
    "Entries are waiting in the journal",
    "They are recorded but not in the manifest yet; `vibes` reads both (R10).",
    "No action needed; the next write or commit moves them to the manifest.",
)
JOURNAL_BROKEN: Final = Check(
    "journal-broken",
    _W,
    "A journal file has invalid lines",
    "The entries on these lines are lost (R10).",
    "Inspect the file in `wal/`; its valid lines are used.",
)
VERSION_UNSUPPORTED: Final = Check(
    "version-unsupported",
    _W,
    "A file declares an unsupported major version",
    "It is read as far as possible and never modified (RFC 12.1, R11).",
    "Upgrade vibes-lsp, or correct the version.",
)
LOG_MISSING: Final = Check(
    "log-missing",
    _E,
    "annotations.jsonl is missing",
    "The log is the audit trail (RFC 7).",
    "Restore it from version control; for a new trail, run `vibes init`.",
)
LOG_LINE: Final = Check(
    "log-line",
    _E,
    "A line of the log is not a valid record",
    "The line is skipped; all others are read (RFC 7.10, R12).",
    "Correct or remove the line; the message says what is wrong.",
)
LOG_END: Final = Check(
    "log-end",
    _W,
    "The log does not end with a newline",
    "A tool that appends could join its record to the last one (RFC 7.10, R9).",
    "Add the newline, or remove the last record if it is incomplete.",
)

# --- records -------------------------------------------------------------------------------------

RECORD_FIELD: Final = Check(
    "record-field",
    _E,
    "A member of a record is missing or invalid",
    "Readers cannot rely on the record (RFC 7.3-7.7).",
    "Fix the tool that wrote it; existing records must not be changed (RFC 12.2).",
)
TIMESTAMP: Final = Check(
    "timestamp",
    _E,
    "A timestamp is not an ISO 8601 date and time",
    "Timestamps order events and decide which annotation owns a line (R7, R28).",
    "Fix the tool that wrote it.",
)
TIMESTAMP_FUTURE: Final = Check(
    "timestamp-future",
    _W,
    "A timestamp is more than a day in the future",
    "Until then, the record takes precedence over every later edit (R7).",
    "Check the clock of the machine that recorded it.",
)
ID_ABSENT: Final = Check(
    "annotation-id-absent",
    _W,
    "Records have no annotation_id",
    "The RFC requires it (5.4, 7.3): without it, edges written by other tools cannot refer to "
    "the record.",
    "Upgrade the tool that writes them.",
)
ID_VARIANT: Final = Check(
    "annotation-id-variant",
    _W,
    "annotation_ids match only a known variant of the RFC's rule",
    "The tool hashed before it added anchors, commit or risk, or escaped non-ASCII text (R3).",
    "No data is lost; upgrade the tool that writes them.",
)
ID_MISMATCH: Final = Check(
    "annotation-id-mismatch",
    _E,
    "An annotation_id does not match its record",
    "The record was changed after it was written, or its id was invented (RFC 5.4, 12.2).",
    "Compare with an earlier revision: `vibes check --base REV` lists changed records.",
)
PATH_FOREIGN: Final = Check(
    "path-foreign",
    _N,
    "Annotated files are not in this checkout",
    "They belong to another branch, machine or project and have no lines here (R19).",
    "No action needed; tools should record paths relative to the project (RFC 7.3).",
)
PATH_UNTRACKED: Final = Check(
    "path-untracked",
    _N,
    "Annotated files are not tracked by the policy",
    "`tracked_extensions` and `exclude_patterns` exclude them from coverage and gates (RFC "
    "8.1, R26).",
    "Change the policy, or configure the recording tool to follow it.",
)
LEVEL_BELOW: Final = Check(
    "level-below-policy",
    _W,
    "Records have a lower assurance level than the policy requires",
    "Data that the policy requires was not recorded (RFC 3).",
    "Set the recording tool to the project's assurance level.",
)
COMMIT_UNKNOWN: Final = Check(
    "commit-unknown",
    _W,
    "The commit of annotations is neither recorded nor derivable",
    "RFC 9.2 requires a commit for each annotation; R4 derives it. A note if they are newer "
    "than HEAD.",
    "Commit the trail together with the code that it describes.",
)

# --- references and edges ------------------------------------------------------------------------

REFERENCE_DANGLING: Final = Check(
    "reference-dangling",
    _E,
    "A hash in a record has no entry in the manifest",
    "The environment, prompt or command of the record is unknown (guide: references resolve).",
    "Restore the manifest, or merge the branch that has the entry. `git revert` takes away entries "
    "that later records still refer to: `vibes merge REV` brings them back, where REV is the "
    "commit before the revert.",
)
REFERENCE_TYPE: Final = Check(
    "reference-type",
    _E,
    "A hash in a record refers to an entry of the wrong type",
    "An environment_hash must refer to an environment entry, and so on (RFC 7.3).",
    "Fix the tool that wrote it.",
)
EDGE_END: Final = Check(
    "edge-end",
    _E,
    "An end of an edge refers to nothing",
    "The relation is lost (RFC 7.6).",
    "Look for the missing record in other branches.",
)
EDGE_NAMES: Final = Check(
    "edge-names",
    _W,
    "Edges use source_id and target_id",
    "RFC 7.6 calls them source_ref and target_ref; the names of 7.3.1 are read too (R5).",
    "Upgrade the tool that writes them.",
)
CAUSE_MISSING: Final = Check(
    "cause-missing",
    _W,
    "Annotations have no caused_by edge",
    "Tools must record which prompt or command triggered an edit (RFC 9.2).",
    "Upgrade the tool that writes them; missing edges may be appended.",
)
REMAP_EDGE: Final = Check(
    "remap-edge",
    _E,
    "A remapped record has no supersedes edge to its original",
    "Without the edge, the remapped record counts as another edit (RFC 7.3.1, 7.9).",
    "Append the edge.",
)
SESSION_OPEN: Final = Check(
    "session-open",
    _W,
    "A session has no end record",
    "The session is still running, or its tool stopped unexpectedly (RFC 7.5).",
    "Append an end record once the session is over.",
)
SESSION_UNKNOWN: Final = Check(
    "session-unknown",
    _W,
    "Records refer to a session without a start record",
    "Nothing is known about the session (RFC 7.5).",
    "Upgrade the tool that writes them.",
)
SESSION_ORDER: Final = Check(
    "session-order",
    _W,
    "A session ends before it starts",
    "Its duration and the order of its events are wrong (RFC 7.5).",
    "Check the clock of the machine that recorded it.",
)
DELEGATION_CHILD: Final = Check(
    "delegation-child",
    _W,
    "A delegated session does not name its parent",
    "The start record of the child must have parent_session_id (RFC 9.2).",
    "Fix the orchestrating tool.",
)
DELEGATION_RECORD: Final = Check(
    "delegation-record",
    _W,
    "A session names a parent that recorded no delegation",
    "The orchestrator must append a delegation record (RFC 9.2).",
    "Fix the orchestrating tool.",
)
DELEGATION_EDGE: Final = Check(
    "delegation-edge",
    _W,
    "A delegation has no delegated_to edge",
    "Tools must record one from the parent session to the session of each sub-agent (RFC 9.2).",
    "Fix the orchestrating tool.",
)

# --- entries -------------------------------------------------------------------------------------

ENTRY_FIELD: Final = Check(
    "entry-field",
    _E,
    "A member of a manifest entry is missing or invalid",
    "Readers cannot rely on the entry (RFC 6.2-6.6).",
    "Fix the tool that wrote it.",
)
HASH_VARIANT: Final = Check(
    "hash-variant",
    _W,
    "Manifest keys match only a known variant of the RFC's rule",
    "The tool omitted members or formatted values differently when it hashed (R2).",
    "No data is lost; upgrade the tool that writes them.",
)
HASH_MISMATCH: Final = Check(
    "hash-mismatch",
    _E,
    "A manifest key does not match the hash of its entry",
    "The entry was changed after it was recorded, or its key was invented (RFC 5.2, 13.3).",
    "Compare with an earlier revision: `vibes check --base REV` lists changed entries.",
)
PROMPTS_ABSENT: Final = Check(
    "prompts-absent",
    _E,
    "The assurance level requires prompts, but the manifest has none",
    "From level medium on, the trail says what the AI was asked (RFC 3.2, guide).",
    "Record prompts, or lower the assurance level.",
)
PROMPT_EMPTY: Final = Check(
    "prompt-empty",
    _E,
    "A prompt is empty",
    "It does not say what the AI was asked (guide: prompt_text is non-empty).",
    "Fix the tool that wrote it.",
)
REASONING_ABSENT: Final = Check(
    "reasoning-absent",
    _E,
    "The assurance level requires reasoning, but the manifest has none",
    "At level high, the trail says how the AI reasoned (RFC 3.3, guide).",
    "Record reasoning, or lower the assurance level.",
)
REASONING_EMPTY: Final = Check(
    "reasoning-empty",
    _E,
    "A reasoning entry is empty",
    "It needs text, compressed text or a blob (RFC 6.7, guide).",
    "Fix the tool that wrote it.",
)
REASONING_MODEL: Final = Check(
    "reasoning-model",
    _W,
    "Reasoning entries have no reasoning_model",
    "RFC 6.5 requires it, although the RFC's compressed and external examples omit it (R8).",
    "Upgrade the tool that writes them.",
)
BLOB_MISSING: Final = Check(
    "blob-missing",
    _E,
    "The blob of a reasoning entry is missing",
    "The reasoning cannot be read (RFC 6.7, 8.2). A note if git ignores the blobs.",
    "Restore the file.",
)
BLOB_ESCAPES: Final = Check(
    "blob-escapes",
    _E,
    "A blob_path points outside the audit directory",
    "Such a file is never opened (R8).",
    "Correct the path, or distrust the tool that wrote it.",
)
BLOB_BROKEN: Final = Check(
    "blob-broken",
    _E,
    "Stored reasoning cannot be decompressed",
    "It is not gzip or base64, is truncated, or exceeds the size limit (R8).",
    "Restore the entry or its blob.",
)
BLOB_NAME: Final = Check(
    "blob-name",
    _W,
    "A blob's name does not match the digest of its content",
    "The name verifies the content (R8).",
    "Compare the blob with an earlier revision.",
)
HOME_PATH: Final = Check(
    "home-path",
    _W,
    "Entries contain paths of a home directory",
    "They reveal user and machine names to everyone who reads the repository (RFC 13.1).",
    "Record paths relative to the project (RFC 6.3, 6.4).",
)
SECRET: Final = Check(
    "secret",
    _W,
    "An entry may contain a secret",
    "Prompts, commands and reasoning are published with the repository (RFC 13.1).",
    "Revoke the secret first, then configure the recording tool to mask such text.",
)

HIDDEN_TEXT: Final = Check(
    "hidden-text",
    _W,
    "The log has lines or hashes of a file that git stores encrypted or elsewhere",
    "The log is committed in clear: it shows first lines of the file, and short secrets can be "
    "guessed from hashes (R14, R32).",
    "Replace the secrets in these lines first. Nothing more of such files is recorded; "
    "`docs/git.md` (*Files that git stores encrypted*) says how to remove what is there.",
)

RISK_SCORE: Final = Check(
    "risk-score",
    _W,
    "A stored risk score does not match its factors",
    "Pipelines use the stored score (RFC 10.4.4, 10.4.5); the reference algorithm gives "
    "another one (RFC 10.4.2).",
    "Fix the tool that wrote it, or name its algorithm in `risk_scoring.algorithm`.",
)
RISK_SIGNAL: Final = Check(
    "risk-signal",
    _N,
    "A risk factor has an unknown signal, or a signal occurs twice",
    "Custom signals need a namespace, as in `org:name` (RFC 10.4.1); others do not count in "
    "live scores.",
    "Configure the tool that writes them to add a namespace.",
)

# --- git -----------------------------------------------------------------------------------------

GIT_IGNORE: Final = Check(
    "git-ignore",
    _W,
    "Derived files of the trail are not ignored by git, or only on this machine",
    "`git add` would commit them (RFC 4.2, 7.8, R13).",
    "Run `vibes init`, which completes `.ai-audit/.gitignore`, and commit that file.",
)
GIT_ATTRIBUTES: Final = Check(
    "git-attributes",
    _W,
    "Git attributes do not protect the log or the manifest",
    "Merges conflict, and converted line ends break hashes (R13).",
    "Run `vibes init`, which completes `.ai-audit/.gitattributes`; remove rules that override it.",
)
GIT_DERIVED: Final = Check(
    "git-derived",
    _W,
    "Git tracks derived files of the trail",
    "They can be regenerated and must not be reviewed or merged (RFC 4.2, 7.8).",
    "Remove them from git with `git rm --cached`.",
)
GIT_IGNORED: Final = Check(
    "git-ignored",
    _W,
    "Git ignores a file of the trail",
    "Clones have no audit trail (RFC 4.2). A note for the manifest, whose prompts may be "
    "private (13.1).",
    "Remove the rule from `.gitignore`, or add the file with `git add --force`.",
)
PRIVATE_KEY: Final = Check(
    "private-key",
    _E,
    "A private key for attestations is in the project",
    "Anyone who has it can sign in its owner's name; it must not be committed (RFC 11.3).",
    "Move it out of the project, to `~/.vibescheck/keys/`. If it was ever committed or shared, "
    "make a new one with `vibes keys generate --replace` and have the old one revoked.",
)

ALL: Final[tuple[Check, ...]] = (
    *(value for value in list(globals().values()) if isinstance(value, Check)),
    *BASE_CHECKS,
)
