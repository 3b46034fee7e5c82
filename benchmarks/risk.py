"""How fast risk is scored: the arithmetic, the measurements in the trail, and the rules.

All times are CPU time: nothing here waits.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.corpus import generate
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.vocabulary import RuleAction
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement, ShownLineage
from vibes_lsp.risk.policy import Policy, Rule
from vibes_lsp.risk.rules import evaluate_condition, parse_condition
from vibes_lsp.risk.scoring import compute_score, rule_variables
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.records import recorded_lines
from vibes_lsp.trail.trail import Trail

ANNOTATIONS = 100_000
CONDITION = (
    "temperature > 0.8 AND action_type == 'create' AND scope_lines > 100"
    " OR prompt_token_count.value >= 0.9"
)


def main() -> None:
    """Measure and print."""
    policy = Policy(
        enabled=True, rules=(Rule(CONDITION, RuleAction.FLAG, parse_condition(CONDITION)),)
    )
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder), ANNOTATIONS)
        trail = Trail(AuditDir(Path(folder) / ".ai-audit"))
        trail.refresh()
        text = Text("line\n" * 2_000)
        placements = [_placed(each) for each in trail.lineages()]
        print(f"risk: {len(placements):,} annotations")
        scorer = Scorer(trail, policy)
        begun = time.process_time()
        measured = [scorer.measured(each, text) for each in placements]
        _rate("measured in the trail", len(placements), begun)
        begun = time.process_time()
        scores = [compute_score(each, policy) for each in measured]
        _rate("scored", len(placements), begun)
        begun = time.process_time()
        for score in scores:
            if score is not None:
                named = rule_variables(score.factors)
                _ = [evaluate_condition(rule.expression, named) for rule in policy.rules]
        _rate("a rule evaluated", len(placements), begun)


def _placed(lineage: Lineage) -> Placement:
    """Place an annotation where it was recorded; the files do not exist."""
    start, end = recorded_lines(lineage.current) or (None, None)
    return Placement(
        lineage.current.text("file_path") or "",
        ShownLineage(lineage),
        LocatedRange(start, end, State.EXACT, Method.FILE_HASH, 1.0),
    )


def _rate(what: str, count: int, begun: float) -> None:
    seconds = time.process_time() - begun
    print(f"  {what:<24}{seconds * 1000:8.0f} ms  {count / seconds:10,.0f} per second")


if __name__ == "__main__":
    main()
