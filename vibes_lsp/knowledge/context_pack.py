"""A pack of objects for a task, within a budget of characters (retrieval chapter, 2026-05-21)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Final

from vibes_lsp.knowledge.method_parameters import ContextParameters
from vibes_lsp.knowledge.object_index import Hit, ObjectIndex
from vibes_lsp.knowledge.objects import CLOSED, Kind

CLOCK_SKEW: Final = timedelta(days=1)
"""How far ahead of ours the clock of another computer may be."""
_FRESH: Final = timedelta(days=30)
_STALE: Final = timedelta(days=180)
_MAX_WORDS: Final = 32
_CANDIDATES: Final = 50
_STOP_WORDS: Final = frozenset([
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how",
    "i", "if", "in", "into", "is", "it", "its", "of", "on", "or", "our", "should", "that",
    "the", "their", "then", "there", "this", "to", "use", "we", "what", "when", "where",
    "which", "who", "why", "will", "with", "you", "your",
])  # fmt: skip


def build_context(index: ObjectIndex, request: ContextParameters, now: datetime) -> dict[str, Any]:
    """Return the pack for a task, in the form of the schema `context-pack` (2026-05-21).

    Claims that are superseded, archived or redacted are left out.
    """
    words = keywords(request.task)
    items: list[dict[str, Any]] = []
    uncited: list[str] = []
    used = clipped = omitted = 0
    for hit in index.search_any(words, max(_CANDIDATES, request.limit)):
        if len(items) == request.limit:
            break
        members = index.get(hit.kind, hit.id)
        if members is None or members.get("status") in CLOSED:
            continue
        citations = _citations(hit.kind, members)
        if hit.kind is Kind.CLAIM and not citations:
            uncited.append(hit.id)
            if request.require_citations:
                continue
        summary = _summary(hit.kind, members)
        if request.max_chars is not None and used + len(summary) > request.max_chars:
            room = request.max_chars - used
            if room < 40 or items:
                omitted += 1
                continue
            summary, clipped = f"{summary[: room - 1]}…", clipped + 1
        used += len(summary)
        items.append(_item(hit, summary, citations, members, now))
    failed = _failures(request, len(items), uncited, omitted + clipped)
    warnings = [f"claim {identifier} has no citation" for identifier in uncited]
    quality = {
        "ok": not failed,
        "items": len(items),
        "minimum_items": request.min_items,
        "require_citations": request.require_citations,
        "fail_on_warnings": request.fail_on_warnings,
        "uncited_items": uncited,
        "warnings": len(warnings),
        "budget_truncated": omitted + clipped > 0,
        "budget_clipped_items": clipped,
        "budget_omitted_items": omitted,
        "failed": failed,
    }
    return {
        "query": request.task,
        "generated_at": now.isoformat().replace("+00:00", "Z"),
        "items": items,
        "quality": quality,
        "warnings": warnings,
    }


def keywords(task: str) -> list[str]:
    """Return the words of a task that are worth a search, each once."""
    words = [word for word in re.findall(r"\w+", task.lower()) if word not in _STOP_WORDS]
    return list(dict.fromkeys(word for word in words if len(word) > 1))[:_MAX_WORDS]


def _item(
    hit: Hit, summary: str, citations: list[str], members: dict[str, Any], now: datetime
) -> dict[str, Any]:
    return {
        "id": hit.id,
        "type": hit.kind.noun,
        "summary": summary,
        "score": round(hit.score, 4),
        "citations": citations,
        "freshness": _freshness(members, now),
        "backend": hit.backend,
    }


def _failures(
    request: ContextParameters, count: int, uncited: list[str], truncated: int
) -> list[str]:
    failures = []
    if count < request.min_items:
        failures.append(f"{count} items, expected at least {request.min_items}")
    if request.fail_on_warnings and uncited:
        failures.append(f"{len(uncited)} claims without citations")
    if request.fail_on_budget_truncation and truncated:
        failures.append(f"{truncated} items cut for the budget")
    return failures


def _summary(kind: Kind, members: dict[str, Any]) -> str:
    if kind is Kind.CLAIM:
        return str(members["text"])
    if kind is Kind.PAGE:
        body = str(members.get("body") or "").strip()
        return f"{members['title']}: {body[:400]}" if body else str(members["title"])
    if kind is Kind.ENTITY:
        description = members.get("description")
        name = f"{members['name']} ({members['type']})"
        return f"{name}: {description}" if description else name
    return str(members.get("title") or members.get("locator") or members["id"])


def _citations(kind: Kind, members: dict[str, Any]) -> list[str]:
    if kind is Kind.CLAIM:
        return list(members.get("evidence") or [])
    if kind is Kind.PAGE:
        return [*(members.get("sources") or []), *(members.get("claims") or [])]
    return [members["id"]] if kind is Kind.SOURCE else []


def _freshness(members: dict[str, Any], now: datetime) -> str:
    confirmed, updated = _moment(members, "last_confirmed_at"), _moment(members, "updated_at")
    if confirmed is not None and -CLOCK_SKEW <= now - confirmed <= _FRESH:
        return "fresh"
    return "stale" if updated is not None and now - updated > _STALE else "unknown"


def _moment(members: dict[str, Any], name: str) -> datetime | None:
    value = members.get(name)
    return datetime.fromisoformat(value) if isinstance(value, str) else None
