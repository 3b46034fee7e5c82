"""An independent writer of VIBES audit trails, made from the RFC's text alone.

It shares no code with the product, so that a bug in both reader and writer of the product shows.
"""

from tests.trails.complete_trail import SOURCES, CompleteTrail, complete
from tests.trails.content import Anchors, anchors, file_hash, gzipped
from tests.trails.files import AUDIT_DIR, OMIT, Omit
from tests.trails.hashing import (
    CONTEXT_VARIANTS,
    ID_VARIANTS,
    annotation_id,
    context_hash,
    javascript_number,
    variant_of,
)
from tests.trails.quirks import Quirk, QuirkTrail, corrupt_manifest, quirks, rewrite_log
from tests.trails.repository import Repository
from tests.trails.union_merge import merge_logs
from tests.trails.writer import TrailWriter

__all__ = [
    "AUDIT_DIR",
    "CONTEXT_VARIANTS",
    "ID_VARIANTS",
    "OMIT",
    "SOURCES",
    "Anchors",
    "CompleteTrail",
    "Omit",
    "Quirk",
    "QuirkTrail",
    "Repository",
    "TrailWriter",
    "anchors",
    "annotation_id",
    "complete",
    "context_hash",
    "corrupt_manifest",
    "file_hash",
    "gzipped",
    "javascript_number",
    "merge_logs",
    "quirks",
    "rewrite_log",
    "variant_of",
]
