"""Badges: the share of verified AI lines, the assurance level that their data meets, and the tier.

A badge is drawn from three words alone, so the claim of a badge can be read back from its file, and
a picture that does not fit its own claim is recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qs, quote, unquote

from vibes_lsp.attestation.tiers import TrustTier
from vibes_lsp.checks.finding import Check, Finding, Severity
from vibes_lsp.errors import BadBadge, MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import AssuranceLevel

LABEL: Final = "AI-generated"
NO_LEVEL: Final = "level unknown"
MAX_FILE: Final = 4 << 20
"""Largest file that is searched for badges, in bytes."""

_SEPARATOR: Final = " \N{MIDDLE DOT} "
_LABEL_COLOUR: Final = "#333333"
_SHARE: Final = re.compile(r"(<1|>99|100|[1-9]?[0-9])%")


class BadgeTier(StrEnum):
    """The trust tier of all data that a badge counts, in words; the weakest first.

    Attributes:
        NOT_ATTESTED: There is no good signature.
        IN_PART: The trail has a tier, but what was added since can have changed the share.
        TOOL_ONLY: See `TrustTier`, as the following.
        SELF_ATTESTED: Only users vouch for it.
        TOOL_CORROBORATED: A user vouches for it, and a tool provider.
    """

    NOT_ATTESTED = "not attested"
    IN_PART = "attested in part"
    TOOL_ONLY = "tool-only"
    SELF_ATTESTED = "self-attested"
    TOOL_CORROBORATED = "tool-corroborated"

    @classmethod
    def of(cls, tier: TrustTier, unsigned: int) -> BadgeTier:
        """Return what a badge may say.

        Args:
            tier: The tier of the trail, as `vibes verify` finds it.
            unsigned: How many annotations and edges were added since it was signed.
        """
        if tier is TrustTier.NONE:
            return cls.NOT_ATTESTED
        return cls.IN_PART if unsigned else cls(tier.value)

    def exceeds(self, tier: BadgeTier) -> bool:
        """Whether it says more than another."""
        order = list(BadgeTier)
        return order.index(self) > order.index(tier)


_COLOURS: Final = {
    BadgeTier.TOOL_CORROBORATED: "#1a6b38",
    BadgeTier.SELF_ATTESTED: "#1f5fa8",
    BadgeTier.TOOL_ONLY: "#6b5310",
    BadgeTier.IN_PART: "#5a4a7d",
    BadgeTier.NOT_ATTESTED: "#5c5c5c",
}
_TIER_OF_COLOUR: Final = {colour: tier for tier, colour in _COLOURS.items()}


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
    tier: BadgeTier | None = None

    @classmethod
    def of(
        cls, lines: int, verified: int, level: AssuranceLevel | None, tier: BadgeTier
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
            words += [self.level.value if self.level else NO_LEVEL, self.tier.value]
        return _SEPARATOR.join(words)

    @property
    def description(self) -> str:
        """The badge in a sentence, for those who do not see it."""
        level = f"assurance level {self.level.value}" if self.level else NO_LEVEL
        tier = self.tier or BadgeTier.NOT_ATTESTED
        return f"{LABEL}: {self.share} of lines, verified; {level}; {tier.value}"

    @property
    def colour(self) -> str:
        """The colour of the right half: that of the tier, as a share is neither good nor bad."""
        return _COLOURS[self.tier or BadgeTier.NOT_ATTESTED]


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
_STATIC: Final = re.compile(
    r"https?://img\.shields\.io/badge/([^\s\"'<>()\[\]?]+)(?:\?([^\s\"'<>()\[\]]*))?"
)


def find_badges(content: bytes, *, is_svg: bool = False) -> list[FoundBadge]:
    """Return the badges in a file: an SVG or endpoint file, else static badges of shields.io.

    Args:
        content: The content of the file.
        is_svg: Whether it is shown as SVG by its name, even if it starts as another text: a
            comment in a picture shows nothing.

    Raises:
        BadBadge: There is none.
    """
    found_text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    beginning = found_text.lstrip()
    if is_svg or beginning.startswith(("<svg", "<?xml")):
        return [_svg_badge(found_text)]
    if beginning.startswith("{"):
        return [_endpoint_badge(found_text)]
    badges = list(_static_badges(found_text))
    if not badges:
        raise BadBadge(
            "there is no badge about AI lines in it",
            hint="expected an SVG or endpoint file of `vibes badge`, or a static shields.io badge",
        )
    return badges


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
    claim = _claim(message.split(_SEPARATOR))
    return FoundBadge(1, claim, _colour_problem(claim, text(members, "color") or ""))


def _static_badges(found_text: str) -> Iterator[FoundBadge]:
    line, counted = 1, 0
    for match in _STATIC.finditer(found_text):
        line += found_text.count("\n", counted, match.start())
        counted = match.start()
        parts = _static_parts(match[1].removesuffix(".svg").removesuffix(".png"))
        label, message, colour = (*parts, "", "")[:3]
        shown = parse_qs((match[2] or "").replace("&amp;", "&"))
        [shown_label] = shown.get("label", [label])[-1:]
        if not message or not (_is_about_ai(label) or _is_about_ai(shown_label)):
            continue
        claim = _claim(message.split(_SEPARATOR))
        problem = (
            _colour_problem(claim, shown.get("color", [colour])[-1])
            if _is_about_ai(shown_label)
            else f"its address gives it the label {shown_label[:40]!r}"
        )
        yield FoundBadge(line, claim, problem)


def _static_parts(path: str) -> list[str]:
    """Split the path of a static badge: `--` is a hyphen, `__` an underscore, `_` a space."""
    hyphen, underscore = "\x00", "\x01"
    parts = path.replace("--", hyphen).replace("__", underscore).replace("_", " ").split("-")
    return [unquote(part).replace(hyphen, "-").replace(underscore, "_") for part in parts]


def _colour_problem(claim: BadgeClaim | None, colour: str) -> str:
    """Return what is wrong with a colour; other colours than those of our tiers claim nothing."""
    tier = _TIER_OF_COLOUR.get(f"#{colour.strip().lower().removeprefix('#')}")
    said = (claim.tier if claim else None) or BadgeTier.NOT_ATTESTED
    if tier is None or not tier.exceeds(said):
        return ""
    return f"its colour says {tier.value}, and its text {said.value}"


def _is_about_ai(label: str) -> bool:
    return re.sub(r"[^a-z]", "", label.lower()) == "aigenerated"


def _claim(words: Iterable[str]) -> BadgeClaim | None:
    """Return the claim in the words of a message; None if it is none."""
    share, *rest = words
    tiers = {member.value for member in BadgeTier}
    match rest:
        case [] if _SHARE.fullmatch(share):
            return BadgeClaim(share)
        case [level, tier] if (
            _SHARE.fullmatch(share) and tier in tiers and level in (*AssuranceLevel, NO_LEVEL)
        ):
            return BadgeClaim(
                share, None if level == NO_LEVEL else AssuranceLevel(level), BadgeTier(tier)
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
    tier = actual.tier or BadgeTier.NOT_ATTESTED
    if claimed.tier is not None and claimed.tier.exceeds(tier):
        yield f"it claims {claimed.tier.value}, but the trail is {tier.value}"


# Checking

BADGE_CLAIM: Final = Check(
    "badge-claim",
    Severity.ERROR,
    "A badge claims more than the data shows",
    "Only verified lines count. Their share must be exactly the one claimed, and the assurance "
    "level and the trust tier at least those claimed.",
    "Draw the badge again with `vibes badge`.",
)


def badge_findings(
    badges: Iterable[FoundBadge], actual: BadgeClaim, file: str
) -> Iterator[Finding]:
    """Yield a finding for everything that the badges in a file claim and the data does not show."""
    for badge in badges:
        if badge.claim is None:
            yield Finding(BADGE_CLAIM, "the badge names no share in percent", file, badge.line)
            continue
        if badge.problem:
            yield Finding(BADGE_CLAIM, badge.problem, file, badge.line)
        for difference in differences(badge.claim, actual):
            yield Finding(BADGE_CLAIM, difference, file, badge.line)
