"""RFC 6.7: compressed reasoning and reasoning in blobs."""

from __future__ import annotations

import base64
import json

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import (
    MANIFEST,
    audit_dir,
    check_project,
    finding_fields,
    open_trail,
    severities,
)
from tests.trails import CompleteTrail, gzipped
from tests.trails.contexts import ReasoningForm
from vibes_lsp.store.reasoning import reasoning_text

TEXT = "Längere Überlegung. 🙂\n" * 2000


def text_of(trail: CompleteTrail, key: str) -> str:
    entry = open_trail(trail.root).manifest.entry(key)
    assert entry is not None
    assert "reasoning_text" not in entry
    return reasoning_text(entry, audit_dir(trail.root))


@rfc_reader(
    "6.7",
    "SHOULD",
    "compressed and external reasoning is read as the same text as inline reasoning",
)
@pytest.mark.parametrize("form", ["compressed", "external"])
def test_packed_reasoning_is_read(trail: CompleteTrail, form: ReasoningForm) -> None:
    key = trail.writer.reasoning(TEXT, form=form)
    assert text_of(trail, key) == TEXT
    assert finding_fields(check_project(trail.root)) == set()


@rfc_reader(
    "6.7",
    "stated",
    "compressed entries without a model, as in the RFC's examples, are a warning, not an error",
)
@pytest.mark.parametrize("form", ["compressed", "external"])
def test_packed_entries_in_the_form_that_the_rfc_shows_are_read(
    trail: CompleteTrail, form: str
) -> None:
    head = {
        "type": "reasoning",
        "reasoning_token_count": 2847,
        "created_at": "2026-02-03T14:30:05Z",
    }
    if form == "compressed":
        packed = base64.b64encode(gzipped(TEXT.encode())).decode()
        key = trail.writer.entry({**head, "reasoning_text_compressed": packed, "compressed": True})
    else:
        path = f"blobs/{'c3d4e5f6' * 2}.json.gz"
        trail.writer.files.write(
            path, gzipped(json.dumps({"type": "reasoning", "reasoning_text": TEXT}).encode())
        )
        key = trail.writer.entry({**head, "external": True, "blob_path": path})
    assert text_of(trail, key) == TEXT
    report = check_project(trail.root)
    assert report.passed
    assert severities(report, "reasoning-model") == {"warning"}


@rfc_reader(
    "6.7",
    "stated",
    "reasoning that cannot be decompressed is reported at its line; other entries are still read",
)
@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (
            {"reasoning_text_compressed": "not base64!", "compressed": True},
            ("blob-broken", "reasoning_text_compressed"),
        ),
        (
            {"reasoning_text_compressed": base64.b64encode(b"no gzip").decode()},
            ("blob-broken", "reasoning_text_compressed"),
        ),
        ({"external": True, "blob_path": "blobs/absent.json.gz"}, ("blob-missing", "blob_path")),
        ({"external": True}, ("reasoning-empty", "reasoning_text")),
        ({"compressed": True}, ("reasoning-empty", "reasoning_text")),
    ],
)
def test_broken_packing_is_reported(
    trail: CompleteTrail, members: dict[str, object], expected: tuple[str, str]
) -> None:
    key = trail.writer.entry(
        {
            "type": "reasoning",
            "reasoning_model": "model",
            "created_at": "2026-02-03T14:30:05Z",
            **members,
        }
    )
    report = check_project(trail.root)
    assert (
        finding_fields(report, MANIFEST, open_trail(trail.root).manifest.line_of(key))
        == {expected}
        == finding_fields(report)
    )


@rfc_reader(
    "6.7",
    "stated",
    "compressed and external reasoning is checked for secrets like inline reasoning",
)
@pytest.mark.parametrize("form", ["inline", "compressed", "external"])
def test_packed_reasoning_is_examined_as_text(trail: CompleteTrail, form: ReasoningForm) -> None:
    trail.writer.reasoning(TEXT + "The token is ghp_" + "a1B2" * 9, form=form)
    assert finding_fields(check_project(trail.root)) == {("secret", "reasoning_text")}
