"""Run all benchmarks (`make bench`); each prints its measurements and the ratios that matter."""

from __future__ import annotations

from benchmarks import (
    attestation,
    editing_day,
    editor,
    gate,
    history,
    hook,
    knowledge,
    listing,
    recording,
    risk,
    scale,
    scan,
    secrets,
    server,
    typing,
    writing,
)
from benchmarks.locating import speed

scan.main()
scale.main()
server.main()
typing.main()
editing_day.main()
speed.main()
writing.main()
risk.main()
recording.main()
gate.main()
hook.main()
history.main()
knowledge.main()
listing.main()
secrets.main()
attestation.main()
editor.main()
