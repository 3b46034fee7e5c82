"""The queries of RFC 10 as printed there, and the placeholders for hashes in them."""

from __future__ import annotations

from typing import Final

PROMPT: Final = "b2c3d4e5f6a7b8c9"
"""Placeholder for the first digits of the hash of a prompt."""
COMMIT: Final = "commit_hash = ''"
"""Placeholder for a commit; its hash belongs between the quotes."""

ANNOTATIONS_OF_A_FILE: Final = """grep '"src/auth.py"' .ai-audit/annotations.jsonl | jq ."""
ENVIRONMENTS: Final = r"""jq -s '[.[] | select(.type == "line") | .environment_hash] | unique' \
  .ai-audit/annotations.jsonl"""

AI_LINES: Final = """
SELECT file_path, SUM(line_end - line_start + 1) AS ai_lines
FROM read_json_auto('.ai-audit/annotations.jsonl')
WHERE type = 'line'
  AND file_path = 'src/auth.py'
  AND action = 'create'
GROUP BY file_path;
"""
FUNCTIONS: Final = """
SELECT DISTINCT function_name, environment_hash
FROM read_json_auto('.ai-audit/annotations.jsonl')
WHERE type = 'function'
  AND file_path = 'src/auth.py'
  AND function_name = 'validate_signup';
"""
OF_A_PROMPT: Final = """
SELECT file_path, line_start, line_end, action, timestamp
FROM read_json_auto('.ai-audit/annotations.jsonl')
WHERE type = 'line'
  AND prompt_hash LIKE 'b2c3d4e5f6a7b8c9%'
ORDER BY file_path, line_start;
"""
TIMELINE: Final = """
SELECT timestamp, line_start, line_end, action, environment_hash, commit_hash
FROM read_json_auto('.ai-audit/annotations.jsonl')
WHERE type = 'line'
  AND file_path = 'src/auth.py'
ORDER BY timestamp;
"""
OF_A_FILE: Final = """
SELECT * FROM read_json_auto('.ai-audit/annotations.jsonl')
WHERE type = 'line' AND file_path = 'src/auth.py';
"""
AI_LINES_IN_SQLITE: Final = """
SELECT file_path, SUM(line_end - line_start + 1) AS ai_lines
FROM line_annotations
WHERE file_path = 'src/auth.py' AND action = 'create'
GROUP BY file_path;
"""
HIGH_RISK_IN_A_COMMIT: Final = """
SELECT file_path, line_start, line_end,
  risk_score, risk_factors
FROM read_json_auto(
  '.ai-audit/annotations.jsonl')
WHERE type = 'line'
  AND risk_score >= 0.6
  AND commit_hash = ''
ORDER BY risk_score DESC;
"""

SCORE_GATE: Final = r"""# Fail if any annotation has PRISM >= 0.8
MAX_PRISM=$(jq -rs \
  '[.[] | select(.type == "line"
    and .risk_score != null)
    | .risk_score] | max // 0' \
  .ai-audit/annotations.jsonl)
if (( $(echo "$MAX_PRISM >= 0.8" \
  | bc -l) )); then
  echo "BLOCKED: Critical risk ($MAX_PRISM)."
  exit 1
fi
"""
FACTOR_GATE: Final = r"""# Fail if any annotation has temperature > 0.9
HIGH_TEMP=$(jq -rs \
  '[.[] | select(.risk_factors != null)
    | .risk_factors[]
    | select(.signal == "temperature"
      and .value > 0.9)]
    | length' \
  .ai-audit/annotations.jsonl)
if [ "$HIGH_TEMP" -gt 0 ]; then
  echo "BLOCKED: $HIGH_TEMP high-temp annotations."
  exit 1
fi
"""
PR_SUMMARY: Final = r"""jq -rs '
  [.[] | select(.type == "line"
    and .risk_score != null
    and .risk_score >= 0.3)]
  | group_by(.file_path)
  | map({
      file: .[0].file_path,
      max_risk: ([.[].risk_score] | max),
      count: length})
  | sort_by(-.max_risk)
  | .[] | "\(.file) - max PRISM: \(.max_risk) (\(.count) annotations)"
' .ai-audit/annotations.jsonl
"""


def without_the_read(query: str) -> str:
    """Return a query for SQLite: a table instead of the file and its filter (RFC 10.3)."""
    for kind, table in (("line", "line_annotations"), ("function", "function_annotations")):
        query = query.replace(
            f"read_json_auto('.ai-audit/annotations.jsonl')\nWHERE type = '{kind}'\n  AND ",
            f"{table}\nWHERE ",
        )
        query = query.replace(
            f"read_json_auto(\n  '.ai-audit/annotations.jsonl')\nWHERE type = '{kind}'\n  AND ",
            f"{table}\nWHERE ",
        )
    return query


def of_all_records(query: str) -> str:
    """Return a query for SQLite over all records in place of the current ones."""
    return query.replace("_annotations", "_annotations_all")
