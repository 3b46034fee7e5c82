"""Badges: the share of verified AI lines, the assurance level that their data meets, and the tier.

A badge is drawn from three words alone, so the claim of a badge can be read back from its file, and
a picture that does not fit its own claim is recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from vibes_lsp.anchors.location import LineKind
from vibes_lsp.checks.finding import Check, Finding, Severity
from vibes_lsp.errors import BadBadge, MalformedJson
from vibes_lsp.index.records import LogRecord
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import ContextVariant, explain_context_hash
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import CONTEXT_MEMBERS, AssuranceLevel
from vibes_lsp.reports.blame import line_kind
from vibes_lsp.reports.coverage import OwnedFile
from vibes_lsp.verify.tiers import ASCENDING, TrustTier

LABEL: Final = "AI-generated"
NO_LEVEL: Final = "level unknown"
MAX_FILE: Final = 4 << 20
"""Largest file that is searched for badges, in bytes."""

_SEPARATOR: Final = " \N{MIDDLE DOT} "
_TIER_WORDS: Final = {
    TrustTier.TOOL_CORROBORATED: "tool-corroborated",
    TrustTier.SELF_ATTESTED: "self-attested",
    TrustTier.TOOL_ONLY: "tool-only",
    TrustTier.NONE: "not attested",
}
_COLOURS: Final = {
    TrustTier.TOOL_CORROBORATED: "#1a6b38",
    TrustTier.SELF_ATTESTED: "#1f5fa8",
    TrustTier.TOOL_ONLY: "#6b5310",
    TrustTier.NONE: "#5c5c5c",
}
_LABEL_COLOUR: Final = "#333333"
_SHARE: Final = re.compile(r"(<1|>99|100|[1-9]?\d)%")


@dataclass(frozen=True, slots=True)
class BadgeClaim:
    """What a badge says.

    Attributes:
        share: The share of verified AI lines, such as `42%`, `<1%` or `>99%`.
        level: The assurance level that the data of all these lines meets; None if it meets none,
            or if the badge does not say.
        tier: The trust tier; None if the badge does not say.
    """

    share: str
    level: AssuranceLevel | None = None
    tier: TrustTier | None = None

    @classmethod
    def of(
        cls, lines: int, verified: int, level: AssuranceLevel | None, tier: TrustTier
    ) -> BadgeClaim:
        """Return the claim for these numbers.

        0% and 100% are exact: a share that only rounds to them is `<1%` or `>99%`.
        """
        share = verified / lines if lines else 0.0
        rounded = f"{share:.0%}"
        if rounded == "0%" and verified:
            rounded = "<1%"
        elif rounded == "100%" and verified != lines:
            rounded = ">99%"
        return cls(rounded, level, tier)

    @property
    def message(self) -> str:
        """The right half of the badge."""
        words = [self.share]
        if self.tier is not None:
            words += [self.level.value if self.level else NO_LEVEL, _TIER_WORDS[self.tier]]
        return _SEPARATOR.join(words)

    @property
    def description(self) -> str:
        """The badge in a sentence, for those who do not see it."""
        level = f"assurance level {self.level.value}" if self.level else NO_LEVEL
        tier = _TIER_WORDS[self.tier or TrustTier.NONE]
        return f"{LABEL}: {self.share} of lines, verified; {level}; {tier}"

    @property
    def colour(self) -> str:
        """The colour of the right half: that of the tier, as a share is neither good nor bad."""
        return _COLOURS[self.tier or TrustTier.NONE]


def shields_endpoint(claim: BadgeClaim) -> Members:
    """Return what shields.io's endpoint badge reads."""
    return {
        "schemaVersion": 1,
        "label": LABEL,
        "message": claim.message,
        "color": claim.colour,
        "labelColor": _LABEL_COLOUR,
    }


def markdown(claim: BadgeClaim) -> str:
    """Return a static badge of shields.io as Markdown."""
    parts = (LABEL, claim.message, claim.colour.removeprefix("#"))
    path = "-".join(quote(part.replace("-", "--").replace("_", "__"), safe="") for part in parts)
    return f"![{claim.description}](https://img.shields.io/badge/{path})"


# SVG

_WIDTHS: Final = {
    "ijl": 278, " ,.·": 318, "f": 352, "-": 361, "r": 411, "t": 392, "s": 521, "z": 525,
    "c": 550, "k": 579, "vxy": 592, "o": 612, "ae": 614, "bdghnpqu": 635, "0123456789": 636,
    "AI": 490, "w": 818, "<>": 838, "%": 950, "m": 974,
}  # fmt: skip
"""Widths of letters in thousandths of the font size, in DejaVu Sans and nearly so in Verdana."""
_WIDTH_OF: Final = {letter: width for letters, width in _WIDTHS.items() for letter in letters}
_FONT_SIZE: Final = 11
_PADDING: Final = 6

_SVG: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{text}">
<title>{text}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="20" fill="{label_colour}"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
</g>
<g fill="#fff" text-anchor="middle" font-size="11" aria-hidden="true"
 font-family="Verdana,DejaVu Sans,Geneva,sans-serif">
<text x="{label_middle}" y="14" textLength="{label_length}">{label}</text>
<text x="{message_middle}" y="14" textLength="{message_length}">{message}</text>
</g>
</svg>
"""


def svg(claim: BadgeClaim) -> str:
    """Return the badge as SVG in ASCII: no script, nothing from elsewhere, the same every time."""
    label_length, message_length = _width(LABEL), _width(claim.message)
    left, right = label_length + 2 * _PADDING, message_length + 2 * _PADDING
    return _SVG.format(
        width=left + right,
        left=left,
        right=right,
        text=_escape(claim.description),
        label=LABEL,
        message=_escape(claim.message),
        label_colour=_LABEL_COLOUR,
        colour=claim.colour,
        label_middle=_half(left),
        message_middle=_half(2 * left + right),
        label_length=label_length,
        message_length=message_length,
    )


def _width(words: str) -> int:
    return round(sum(_WIDTH_OF[letter] for letter in words) * _FONT_SIZE / 1000)


def _half(number: int) -> str:
    return f"{number / 2:g}"


def _escape(words: str) -> str:
    return words.translate({ord("<"): "&lt;", ord(">"): "&gt;", ord(_SEPARATOR[1]): "&#183;"})


# Reading


@dataclass(frozen=True, slots=True)
class FoundBadge:
    """A badge in a file.

    Attributes:
        line: Its 1-based line.
        claim: What it says; None if that is no share of AI lines.
        problem: Why the badge cannot be what its claim says; empty if nothing is wrong.
    """

    line: int
    claim: BadgeClaim | None
    problem: str = ""


_TITLE: Final = re.compile(r"<title>([^<]*)</title>")
_SENTENCE: Final = re.compile(
    rf"{LABEL}: (?P<share>\S+) of lines, verified; (?:assurance level (?P<level>\w+)|{NO_LEVEL}); "
    r"(?P<tier>[\w -]+)"
)
_STATIC: Final = re.compile(r"https?://img\.shields\.io/badge/([^\s\"'<>()\[\]?]+)")


def find_badges(data: bytes, *, is_svg: bool = False) -> list[FoundBadge]:
    """Return the badges in a file: an SVG or endpoint file, else static badges of shields.io.

    Args:
        data: The content of the file.
        is_svg: Whether it is shown as SVG by its name, even if it starts as another text: a
            comment in a picture shows nothing.

    Raises:
        BadBadge: There is none.
    """
    found_text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    beginning = found_text.lstrip()
    if is_svg or beginning.startswith(("<svg", "<?xml")):
        return [_svg_badge(found_text)]
    if beginning.startswith("{"):
        return [_endpoint_badge(found_text)]
    found = list(_static_badges(found_text))
    if not found:
        raise BadBadge(
            "there is no badge about AI lines in it",
            hint="expected an SVG or endpoint file of `vibes badge`, or a static shields.io badge",
        )
    return found


def _svg_badge(found_text: str) -> FoundBadge:
    title = _TITLE.search(found_text)
    words = _unescape(title[1]) if title else ""
    said = _SENTENCE.fullmatch(words)
    claim = _claim([said["share"], said["level"] or NO_LEVEL, said["tier"]]) if said else None
    if claim is None:
        raise BadBadge("the SVG has no claim in its title", hint="draw it with `vibes badge`")
    drawn = "\n".join(found_text.split()) == "\n".join(svg(claim).split())
    problem = "" if drawn else "its picture is not the one that `vibes badge` draws for its title"
    return FoundBadge(1, claim, problem)


def _unescape(words: str) -> str:
    return words.replace("&lt;", "<").replace("&gt;", ">")


def _endpoint_badge(found_text: str) -> FoundBadge:
    try:
        members = parse_object(found_text.encode("utf-8", "replace"))
    except MalformedJson as error:
        raise BadBadge(f"not an endpoint file of shields.io: {error.message}") from None
    message = text(members, "message")
    if message is None or not _is_about_ai(text(members, "label") or ""):
        raise BadBadge(
            f"the file has no badge about AI lines: expected label {LABEL!r} and a message"
        )
    return FoundBadge(1, _claim(message.split(_SEPARATOR)))


def _static_badges(found_text: str) -> Iterator[FoundBadge]:
    for match in _STATIC.finditer(found_text):
        parts = _static_parts(match[1].removesuffix(".svg").removesuffix(".png"))
        if len(parts) >= 2 and _is_about_ai(parts[0]):
            line = found_text.count("\n", 0, match.start()) + 1
            yield FoundBadge(line, _claim(parts[1].split(_SEPARATOR)))


def _static_parts(path: str) -> list[str]:
    """Split the path of a static badge: `--` is a hyphen, `__` an underscore, `_` a space."""
    hyphen, underscore = "\x00", "\x01"
    parts = path.replace("--", hyphen).replace("__", underscore).replace("_", " ").split("-")
    return [unquote(part).replace(hyphen, "-").replace(underscore, "_") for part in parts]


def _is_about_ai(label: str) -> bool:
    return re.sub(r"[^a-z]", "", label.lower()) == "aigenerated"


def _claim(words: Iterable[str]) -> BadgeClaim | None:
    """Return the claim in the words of a message; None if it is none."""
    share, *rest = words
    tiers = {name: tier for tier, name in _TIER_WORDS.items()}
    match rest:
        case [] if _SHARE.fullmatch(share):
            return BadgeClaim(share)
        case [level, tier] if (
            _SHARE.fullmatch(share) and tier in tiers and level in (*AssuranceLevel, NO_LEVEL)
        ):
            return BadgeClaim(
                share, None if level == NO_LEVEL else AssuranceLevel(level), tiers[tier]
            )
        case _:
            return None


# Comparing


def differences(claimed: BadgeClaim, actual: BadgeClaim) -> Iterator[str]:
    """Yield in what a claim does not hold; a lower level or tier than the data's may be claimed.

    Args:
        claimed: What a badge says.
        actual: What the data shows.
    """
    if claimed.share != actual.share:
        yield f"it claims {claimed.share} AI lines, but {actual.share} are verified"
    levels = [None, *AssuranceLevel]
    if levels.index(claimed.level) > levels.index(actual.level):
        shows = actual.level.value if actual.level else NO_LEVEL
        yield f"it claims assurance level {claimed.level}, but the data shows {shows}"
    claimed_tier, tier = claimed.tier or TrustTier.NONE, actual.tier or TrustTier.NONE
    if ASCENDING.index(claimed_tier) > ASCENDING.index(tier):
        yield f"it claims {_TIER_WORDS[claimed_tier]}, but the trail is {_TIER_WORDS[tier]}"


# Measuring


@dataclass(frozen=True, slots=True)
class BadgeNumbers:
    """What the data shows.

    Attributes:
        lines: Lines of all tracked files.
        verified: Of these, verified AI lines.
        level: The assurance level that the data of every verified line meets; None if some line
            meets none, or there is no such line.
        tier: The trust tier of the trail.
    """

    lines: int
    verified: int
    level: AssuranceLevel | None
    tier: TrustTier

    @property
    def claim(self) -> BadgeClaim:
        """What a badge may say."""
        return BadgeClaim.of(self.lines, self.verified, self.level, self.tier)

    def as_json(self) -> Members:
        """Return the shape of `vibes badge --json`."""
        return {
            "message": self.claim.message,
            "lines": self.lines,
            "verifiedLines": self.verified,
            "share": round(self.verified / self.lines, 4) if self.lines else 0.0,
            "assuranceLevel": self.level.value if self.level else None,
            "tier": self.tier.value,
        }


def measure(files: Iterable[OwnedFile], trail: Trail, tier: TrustTier) -> BadgeNumbers:
    """Count the verified AI lines of files, and find the level that their data meets."""
    lines = verified = 0
    levels: dict[str, int] = {}
    for file in files:
        lines += file.lines
        for line, placement in file.owners.items():
            if line_kind(placement, line) is not LineKind.AI:
                continue
            verified += 1
            record = placement.current
            if record.id not in levels:
                levels[record.id] = _levels_met(record, trail)
    met = min(levels.values(), default=0)
    return BadgeNumbers(lines, verified, list(AssuranceLevel)[met - 1] if met else None, tier)


_REQUIRED: Final = ("environment_hash", "prompt_hash", "reasoning_hash")
"""The member whose entry each assurance level adds (RFC 3), the lowest first."""


def _levels_met(record: LogRecord, trail: Trail) -> int:
    """Return how many levels a record meets: those that it declares and has valid entries for."""
    declared = record.text("assurance_level")
    most = list(AssuranceLevel).index(AssuranceLevel(declared)) + 1 if declared in _LEVELS else 0
    for number, member in enumerate(_REQUIRED[:most]):
        key = record.text(member)
        entry = trail.manifest.entry(key) if key else None
        if key is None or entry is None or entry.get("type") != CONTEXT_MEMBERS[member]:
            return number
        if explain_context_hash(key, entry) == (ContextVariant.MISMATCH,):
            return number
    return most


_LEVELS: Final = frozenset(level.value for level in AssuranceLevel)


# Checking

BADGE_CLAIM: Final = Check(
    "badge-claim",
    Severity.ERROR,
    "A badge claims more than the data shows",
    "Only verified lines count. Their share must be exactly the one claimed, and the assurance "
    "level and the trust tier at least those claimed.",
    "Draw the badge again with `vibes badge`.",
)


def badge_findings(found: Iterable[FoundBadge], actual: BadgeClaim, file: str) -> Iterator[Finding]:
    """Yield a finding for everything that the badges in a file claim and the data does not show."""
    for badge in found:
        if badge.claim is None:
            yield Finding(BADGE_CLAIM, "the badge names no share in percent", file, badge.line)
            continue
        if badge.problem:
            yield Finding(BADGE_CLAIM, badge.problem, file, badge.line)
        for difference in differences(badge.claim, actual):
            yield Finding(BADGE_CLAIM, difference, file, badge.line)
