"""All checks: id, severity, what a finding means, why it matters, what to do. `docs/checks.md` is made from this."""

from __future__ import annotations

from typing import Final

from vibes_lsp.checks.finding import Check, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

# --- files ---------------------------------------------------------------------------------------------------------

FILE_UNREADABLE: Final = Check(
    "file-unreadable",
    _E,
    "A file of the trail is there but cannot be read",
    "Nothing can be said about what it holds (RFC 4.1).",
    "Give the file back its place and permissions; a folder, a link out of the trail or a pipe cannot stand in for it.",
)
CONFLICT_MARKER: Final = Check(
    "conflict-marker",
    _E,
    "Git left its conflict markers in the file",
    "Records around the markers are still read from the log, but the manifest is no JSON any more (R12, R13).",
    "Keep both sides: delete only the marker lines. `.gitattributes` as `vibes init` writes it avoids the conflict.",
)
CONFIG_MISSING: Final = Check(
    "config-missing",
    _E,
    "config.json is missing",
    "The project's policy, its assurance level first of all, is unknown; readers assume medium (RFC 8.1).",
    "Run `vibes init`; it creates what is missing and keeps what is there.",
)
CONFIG_JSON: Final = Check(
    "config-json",
    _E,
    "config.json is not a JSON object",
    "No part of the policy can be used; defaults are in force (RFC 8.1).",
    "Correct the JSON at the line given.",
)
CONFIG_FIELD: Final = Check(
    "config-field",
    _E,
    "A member of config.json is missing or has a value it may not have",
    "That part of the policy counts as not given, its default is in force (RFC 8.1, 10.4.6).",
    "Correct the member; the message says what it may be.",
)
MANIFEST_MISSING: Final = Check(
    "manifest-missing",
    _E,
    "manifest.json is missing",
    "Tool, model and prompt of every annotation are unknown (RFC 6). Where git ignores the file on purpose this is a note.",
    "Restore it from version control, or ask whoever recorded the trail for it.",
)
MANIFEST_JSON: Final = Check(
    "manifest-json",
    _E,
    "manifest.json cannot be read as a manifest",
    "Entries that stand whole on a line of their own are still used; the file is never written to in this state (R10).",
    "Correct the JSON at the line given.",
)
MANIFEST_FRAME: Final = Check(
    "manifest-frame",
    _E,
    "`standard` or `version` of the manifest is not what the RFC asks for",
    "They tell a reader what it is looking at (RFC 6.1).",
    'Set `"standard": "VIBES"` and `"version": "1.0"`.',
)
MANIFEST_DUPLICATE: Final = Check(
    "manifest-duplicate",
    _E,
    "One key stands twice in the manifest with different entries",
    "Only one of them can be the entry that the key was computed from (RFC 5.2, R10).",
    "Remove the entry whose hash is not its key.",
)
MANIFEST_JSONL: Final = Check(
    "manifest-jsonl",
    _N,
    "The manifest is in the interim JSONL form",
    "RFC 9.3 allows one entry per line; other tools may not read it.",
    "Nothing must be done; the next write of ours keeps to the RFC's object.",
)
JOURNAL_PENDING: Final = Check(
    "journal-pending",
    _N,
    "Entries wait in the journal",
    "They were recorded and are not folded into the manifest yet; our readers look at both (R10).",
    "They are folded at the next write or commit.",
)
JOURNAL_BROKEN: Final = Check(
    "journal-broken",
    _W,
    "A journal file holds lines that are no context entries",
    "What they were meant to record is lost (R10).",
    "Look at the file in `wal/`; whole lines of it are used.",
)
VERSION_UNSUPPORTED: Final = Check(
    "version-unsupported",
    _W,
    "A file declares a major version that this program does not know",
    "It is read as far as possible and never modified (RFC 12.1, R11).",
    "Upgrade, or correct the version if it is a mistake.",
)
LOG_MISSING: Final = Check(
    "log-missing",
    _E,
    "annotations.jsonl is missing",
    "The log is the audit trail (RFC 7).",
    "Restore it from version control; `vibes init` creates an empty one for a new trail.",
)
LOG_LINE: Final = Check(
    "log-line",
    _E,
    "A line of the log is not a record",
    "The line is skipped, all others are read (RFC 7.10, R12).",
    "Correct or remove the line; the message says what is wrong with it.",
)
LOG_END: Final = Check(
    "log-end",
    _W,
    "The log does not end in a newline",
    "A tool that appends without looking would glue its record to the last one (RFC 7.10, R9).",
    "Add the newline; where the last record is torn, remove it.",
)

# --- records -------------------------------------------------------------------------------------------------------

RECORD_FIELD: Final = Check(
    "record-field",
    _E,
    "A member of a record is missing or has a value it may not have",
    "Readers cannot rely on the record (RFC 7.3-7.7).",
    "Correct the tool that wrote it; records themselves are never changed (RFC 12.2).",
)
TIMESTAMP: Final = Check(
    "timestamp",
    _E,
    "A timestamp is not an ISO-8601 date and time",
    "The order of events, and with it who owns a line, rests on timestamps (R7, R28).",
    "Correct the tool that wrote it.",
)
TIMESTAMP_FUTURE: Final = Check(
    "timestamp-future",
    _W,
    "A timestamp lies more than a day ahead",
    "The record outranks every edit until then (R7).",
    "Check the clock of the machine that recorded it.",
)
ID_ABSENT: Final = Check(
    "annotation-id-absent",
    _W,
    "Records carry no annotation_id",
    "The RFC requires it (5.4, 7.3); without it edges of other tools cannot name the record. It is computed here.",
    "Upgrade the tool that writes them.",
)
ID_VARIANT: Final = Check(
    "annotation-id-variant",
    _W,
    "annotation_ids verify only in a known variant of the RFC's rule",
    "The tool computed them before it added anchors, commit or risk, or escaped non-ASCII text (R3).",
    "Nothing is lost; upgrade the tool that writes them.",
)
ID_MISMATCH: Final = Check(
    "annotation-id-mismatch",
    _E,
    "An annotation_id does not belong to its record",
    "The record was changed after it was written, or its id was made up (RFC 5.4, 12.2).",
    "Compare with the log's history: `vibes check --base REV` names records that changed.",
)
PATH_FOREIGN: Final = Check(
    "path-foreign",
    _N,
    "Annotations name files that are not in this checkout",
    "They are of another branch, machine or project and cannot be shown at a line (R19).",
    "Nothing must be done; tools should record paths relative to the project (RFC 7.3).",
)
PATH_UNTRACKED: Final = Check(
    "path-untracked",
    _N,
    "Annotations are about files that the project does not track",
    "`tracked_extensions` and `exclude_patterns` leave them out of coverage and gates (RFC 8.1, R26).",
    "Change the policy, or the tool that recorded against it.",
)
LEVEL_BELOW: Final = Check(
    "level-below-policy",
    _W,
    "Records were made at a lower level than the project asks for",
    "What the policy wants to know was not captured (RFC 3).",
    "Set the recording tool to the project's assurance level.",
)
COMMIT_UNKNOWN: Final = Check(
    "commit-unknown",
    _W,
    "The commit of annotations is neither recorded nor derivable",
    "RFC 9.2 wants every annotation linked to a commit; R4 derives it from git. Newer than HEAD it is a note.",
    "Commit the trail together with the code it speaks of.",
)

# --- references and edges ------------------------------------------------------------------------------------------

REFERENCE_DANGLING: Final = Check(
    "reference-dangling",
    _E,
    "A hash in a record names no entry of the manifest",
    "The question it should answer (which model, which prompt) has no answer (guide: references resolve).",
    "Restore the manifest, or the branch it was lost on.",
)
REFERENCE_TYPE: Final = Check(
    "reference-type",
    _E,
    "A hash in a record names an entry of another type",
    "An environment_hash must name an environment, and so on (RFC 7.3).",
    "Correct the tool that wrote it.",
)
EDGE_END: Final = Check(
    "edge-end",
    _E,
    "An end of an edge names nothing",
    "The relation is lost (RFC 7.6).",
    "Look for the missing record in other branches.",
)
EDGE_NAMES: Final = Check(
    "edge-names",
    _W,
    "Edges name their ends source_id and target_id",
    "RFC 7.6 calls them source_ref and target_ref; the older names of 7.3.1 are read too (R5).",
    "Upgrade the tool that writes them.",
)
CAUSE_MISSING: Final = Check(
    "cause-missing",
    _W,
    "Annotations have no caused_by edge",
    "Tools must say which prompt or command triggered an edit (RFC 9.2).",
    "Upgrade the tool that writes them; older records can be given edges, which only append.",
)
REMAP_EDGE: Final = Check(
    "remap-edge",
    _E,
    "A remapped record has no supersedes edge to its original",
    "Without it the remap stands beside the original as if it were another edit (RFC 7.3.1, 7.9).",
    "Append the edge.",
)
SESSION_OPEN: Final = Check(
    "session-open",
    _W,
    "A session was never closed",
    "Either it still runs, or the tool died (RFC 7.5).",
    "Append an end record once the session is over.",
)
SESSION_UNKNOWN: Final = Check(
    "session-unknown",
    _W,
    "Records name a session that has no start",
    "Nothing is known about it (RFC 7.5).",
    "Upgrade the tool that writes them.",
)
SESSION_ORDER: Final = Check(
    "session-order",
    _W,
    "A session ends before it starts",
    "Its duration and order make no sense (RFC 7.5).",
    "Check the clock of the machine that recorded it.",
)
DELEGATION_CHILD: Final = Check(
    "delegation-child",
    _W,
    "A delegated session does not name its parent",
    "The child's start must carry parent_session_id (RFC 9.2).",
    "Correct the orchestrating tool.",
)
DELEGATION_RECORD: Final = Check(
    "delegation-record",
    _W,
    "A session names a parent that recorded no delegation",
    "The orchestrator must append a delegation record (RFC 9.2).",
    "Correct the orchestrating tool.",
)
DELEGATION_EDGE: Final = Check(
    "delegation-edge",
    _W,
    "A delegation has no delegated_to edge",
    "Tools must emit one when they spawn sub-agents, from the parent session to the child (RFC 9.2).",
    "Correct the orchestrating tool.",
)

# --- entries -------------------------------------------------------------------------------------------------------

ENTRY_FIELD: Final = Check(
    "entry-field",
    _E,
    "A member of a manifest entry is missing or has a value it may not have",
    "Readers cannot rely on the entry (RFC 6.2-6.6).",
    "Correct the tool that wrote it.",
)
HASH_VARIANT: Final = Check(
    "hash-variant",
    _W,
    "Keys verify only in a known variant of the RFC's rule",
    "The tool left members out or printed values differently when it hashed; the content is as it was (R2).",
    "Nothing is lost; upgrade the tool that writes them.",
)
HASH_MISMATCH: Final = Check(
    "hash-mismatch",
    _E,
    "An entry does not have the hash that is its key",
    "Its content was changed after it was recorded, or its key made up (RFC 5.2, 13.3).",
    "Compare with the manifest's history: `vibes check --base REV` names entries that changed.",
)
PROMPTS_ABSENT: Final = Check(
    "prompts-absent",
    _E,
    "The level asks for prompts, and the manifest has none",
    "From medium on the trail says what the AI was asked (RFC 3.2, guide).",
    "Record prompts, or lower the level to what is recorded.",
)
PROMPT_EMPTY: Final = Check(
    "prompt-empty",
    _E,
    "A prompt is empty",
    "It does not say what the AI was asked (guide: prompt_text is non-empty).",
    "Correct the tool that wrote it.",
)
REASONING_ABSENT: Final = Check(
    "reasoning-absent",
    _E,
    "The level asks for reasoning, and the manifest has none",
    "At high the trail says how the AI reasoned (RFC 3.3, guide).",
    "Record reasoning, or lower the level to what is recorded.",
)
REASONING_EMPTY: Final = Check(
    "reasoning-empty",
    _E,
    "A reasoning entry holds no reasoning",
    "It needs text, compressed text or a blob (RFC 6.7, guide).",
    "Correct the tool that wrote it.",
)
REASONING_MODEL: Final = Check(
    "reasoning-model",
    _W,
    "Reasoning entries name no reasoning_model",
    "RFC 6.5 requires it; the RFC's own compressed and external examples leave it out (R8).",
    "Upgrade the tool that writes them.",
)
BLOB_MISSING: Final = Check(
    "blob-missing",
    _E,
    "The blob of an external entry is not there",
    "The reasoning cannot be read (RFC 6.7, 8.2). Where git ignores the blobs this is a note.",
    "Restore the file.",
)
BLOB_ESCAPES: Final = Check(
    "blob-escapes",
    _E,
    "A blob_path leaves the audit directory",
    "Such a file is never opened (R8).",
    "Correct or distrust whatever wrote it.",
)
BLOB_BROKEN: Final = Check(
    "blob-broken",
    _E,
    "Stored reasoning cannot be unpacked",
    "It is no gzip or base64, ends early, or unpacks beyond the limit (R8).",
    "Restore the entry or its blob.",
)
BLOB_NAME: Final = Check(
    "blob-name",
    _W,
    "The digest in a blob's name is not that of its content",
    "The name should verify the content (R8).",
    "Compare the blob with its history.",
)
HOME_PATH: Final = Check(
    "home-path",
    _W,
    "Entries contain paths of somebody's home directory",
    "They tell names of people and machines to everyone who reads the repository (RFC 13.1).",
    "Record paths relative to the project (RFC 6.3, 6.4).",
)
SECRET: Final = Check(
    "secret",
    _W,
    "An entry looks as if it contained a secret",
    "Prompts, commands and reasoning are published with the repository (RFC 13.1).",
    "Revoke the secret first; then have the recording tool mask such text.",
)

RISK_SCORE: Final = Check(
    "risk-score",
    _W,
    "A stored risk score does not follow from its factors",
    "Readers and pipelines go by the stored score (RFC 10.4.4, 10.4.5); the reference algorithm gives another one (RFC 10.4.2).",
    "Correct the tool that wrote it, or name its algorithm in `risk_scoring.algorithm`. `vibes` shows the live score beside it.",
)
RISK_SIGNAL: Final = Check(
    "risk-signal",
    _N,
    "A risk factor names no signal that anybody could know, or one twice",
    "Signals beside the standard's have a namespace, as in `org:name` (RFC 10.4.1); others are not pluralize in live scores.",
    "Have the tool that writes them give them a namespace.",
)

# --- git -----------------------------------------------------------------------------------------------------------

GIT_IGNORE: Final = Check(
    "git-ignore",
    _W,
    "Git does not ignore derived files of the trail, or does so only here",
    "`git add` would commit them (RFC 4.2, 7.8, R13).",
    "Run `vibes init`, which adds the missing lines to `.ai-audit/.gitignore`, and commit that file.",
)
GIT_ATTRIBUTES: Final = Check(
    "git-attributes",
    _W,
    "Git's attributes do not protect the log or the manifest",
    "Branches that both recorded conflict, and line ends may be converted, which breaks hashes (R13).",
    "Run `vibes init`, which adds the missing lines to `.ai-audit/.gitattributes`; remove what overrides them elsewhere.",
)
GIT_DERIVED: Final = Check(
    "git-derived",
    _W,
    "Git tracks derived files of the trail",
    "They can be made anew at any time and must not be reviewed or merged (RFC 4.2, 7.8).",
    "`git rm --cached` them.",
)
GIT_IGNORED: Final = Check(
    "git-ignored",
    _W,
    "Git ignores a file of the trail",
    "Whoever clones the project gets no audit trail (RFC 4.2). A manifest may be left out for what its prompts tell (13.1): a note.",
    "Take the rule out of `.gitignore`, or `git add --force` the file.",
)
BASE_RECORD: Final = Check(
    "base-record",
    _E,
    "A record of the base revision is gone or changed",
    "The log is append-only: no tool may modify or remove a record (RFC 12.2).",
    "Put the record back as it was.",
)
BASE_ENTRY: Final = Check(
    "base-entry",
    _E,
    "A manifest entry of the base revision is gone or changed",
    "No tool may remove an entry or modify it (RFC 12.3); its key would not fit any more (RFC 5.2).",
    "Put the entry back as it was.",
)
BASE_FILE: Final = Check(
    "base-file",
    _E,
    "A file of the trail is no file of this repository",
    "What a link or a submodule holds, git does not show in a change; what only this machine writes (`wal/`) no change can bring.",
    "Put the file back, or take it out of git.",
)
BASE_CHECKOUT: Final = Check(
    "base-checkout",
    _E,
    "The trail on disk is not the one in HEAD",
    "HEAD is what is merged. Attributes such as `ident`, `filter` or `working-tree-encoding` make another file of it on checkout.",
    "Commit what was mended on disk. Otherwise take the attributes away from `.ai-audit/`, and check the files out again.",
)
BASE_TRAIL: Final = Check(
    "base-trail",
    _E,
    "The change brings a trail of its own for a folder",
    "The nearest `.ai-audit/` above a file has its records, by its own policy: none of them is judged here. "
    "A trail that the base revision has, and the change adds to, is a warning.",
    "Record into the project's trail, or have somebody merge the change who may decide that; then run the gate in that folder, too.",
)
BASE_LEVEL: Final = Check(
    "base-level",
    _E,
    "The assurance level is lower than at the base revision",
    "What a lower level leaves out of the records cannot be recorded later (RFC 3).",
    "Put the level back, or have somebody merge the change who may decide that.",
)
BASE_POLICY: Final = Check(
    "base-policy",
    _E,
    "The policy is not that of the base revision",
    "A change must not loosen the rules that it is judged by: `vibes gate --base` goes by those of the base. "
    "What only makes them stricter is a note (RFC 8.1, 10.4.6).",
    "Take the change back, or have somebody merge it who may decide that.",
)

ALL: Final[tuple[Check, ...]] = tuple(
    value for value in list(globals().values()) if isinstance(value, Check)
)
