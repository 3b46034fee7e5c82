"""Find secrets by their format: tokens and keys of services, and private keys.

Private keys are PEM, OpenSSH, PGP and PuTTY blocks, also when their start or end was cut off.

Each token format has a literal that every match contains. A search finds the literal and tries the
pattern there. Once an open repeat has reached its minimum the match cannot fail, so a failed match
costs a constant and a match is consumed: time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


def _word_start(characters: str) -> str:
    r"""Return a pattern for the start of a word of these characters.

    It also matches after `\n` in quoted text, `%3D` in a URL and a terminal colour code.
    """
    escapes = r"(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=[\[;]\dm)|(?<=[\[;]\d\dm)"
    return f"(?:(?<![{characters}])|{escapes})"


_WORD: Final = _word_start("A-Za-z0-9_")
_DASHED: Final = _word_start("A-Za-z0-9_-")


@dataclass(frozen=True, slots=True)
class Format:
    """The format of one kind of secret.

    Attributes:
        kind: Its name in findings.
        literal: Text that every match contains.
        pattern: Matches the whole secret.
        offset: Position of the literal in a match.
    """

    kind: str
    literal: str
    pattern: re.Pattern[str]
    offset: int = 0

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of secrets in this format."""
        at = text.find(self.literal)
        while at >= 0:
            match = self.pattern.match(text, at - self.offset) if at >= self.offset else None
            if match is not None:
                yield match.span()
            at = text.find(self.literal, match.end() if match else at + 1)


_W: Final = "[A-Za-z0-9_-]"
_A: Final = "[A-Za-z0-9]"
_HEX: Final = "[0-9a-fA-F]"

_PREFIXED: Final = (
    ("Age Secret Key", "AGE-SECRET-KEY-1", "[0-9A-Za-z]{40,}"),
    ("Airtable Token", "pat", _A + r"{14}\.[0-9a-f]{64}" + _A + "*"),
    ("Anthropic API Key", "sk-ant-", _W + "{20,}"),
    ("Artifactory Token", "AKCp", _A + "{40,}"),
    ("Artifactory Token", "cmVmdGtuO", _A + "{50,}"),
    *(
        ("Atlassian Token", prefix, r"[A-Za-z0-9_=-]{20,}")
        for prefix in ("ATATT3", "ATCTT3", "ATSTT3")
    ),
    ("Atlassian Token", "ATBB", _A + "{32,}"),
    *(("AWS Access Key", prefix, "[0-9A-Z]{16,}") for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
    ("AWS Access Key", "A3T", "[0-9A-Z]{17,}"),
    ("AWS Bedrock Key", "ABSK", "[A-Za-z0-9+/=]{100,}"),
    ("Buildkite Token", "bkua_", _HEX + "{40,}"),
    ("CircleCI Token", "CCIPAT_", "[A-Za-z0-9_]{30,}"),
    ("Crates.io Token", "cio", _A + "{32}(?![A-Za-z0-9])"),
    ("Databricks Token", "dapi", _HEX + r"{32}" + _W + "*"),
    *(
        ("DigitalOcean Token", prefix, _HEX + "{40,}")
        for prefix in ("doo_v1_", "dop_v1_", "dor_v1_")
    ),
    *(("Docker Token", prefix, _W + "{20,}") for prefix in ("dckr_pat_", "dckr_oat_")),
    *(
        ("Doppler Token", f"dp.{kind}.", r"[A-Za-z0-9_.-]{36,}")
        for kind in ("pt", "st", "ct", "sa", "scim", "audit")
    ),
    ("Dynatrace Token", "dt0c01.", r"[A-Za-z0-9]{24}\." + _A + "{60,}"),
    ("Figma Token", "figd_", _W + "{30,}"),
    *(("Fly.io Token", prefix, r"[A-Za-z0-9_+/=-]{40,}") for prefix in ("fo1_", "fm1r_", "fm2_")),
    *(
        ("GitHub Token", f"gh{letter}_", r"[A-Za-z0-9_]{30,}(?:\.[A-Za-z0-9_-]+){0,2}")
        for letter in "pousr"
    ),
    ("GitHub Token", "github_pat_", "[A-Za-z0-9_]{22,}"),
    *(
        ("GitLab Token", f"gl{kind}-", _W + r"{20,}(?:\.[A-Za-z0-9_-]+){0,4}")
        for kind in (
            *("pat", "dt", "rt", "ptt", "oas", "ft", "cbt", "imt", "soat", "ffct", "wt", "rtr"),
            "agent",
        )
    ),
    ("GitLab Token", "GR1348941", _W + "{20,}"),
    ("Google API Key", "AIza", _W + "{35,}"),
    ("Google OAuth Secret", "GOCSPX-", _W + "{20,}"),
    ("Google OAuth Token", "ya29.", r"[A-Za-z0-9_.-]{20,}"),
    ("Google OAuth Token", "1//0", _W + "{40,}"),
    ("Grafana Token", "glsa_", _A + "{32}_[A-Za-z0-9_]{8,}"),
    ("Grafana Token", "glc_", "[A-Za-z0-9+/=]{32,}"),
    ("Grafana Token", "eyJrIjoi", "[A-Za-z0-9+/=]{40,}"),
    ("Groq API Key", "gsk_", _A + "{40,}"),
    *(("HashiCorp Vault Token", f"hv{letter}.", _W + "{20,}") for letter in "sbr"),
    ("Heroku API Key", "HRKU-", _W + "{36,}"),
    ("Hugging Face Token", "hf_", _A + "{30,}"),
    ("Hugging Face Token", "api_org_", _A + "{30,}"),
    ("LangSmith Key", "lsv2_pt_", "[A-Za-z0-9_]{32,}"),
    ("LangSmith Key", "lsv2_sk_", "[A-Za-z0-9_]{32,}"),
    ("Linear API Key", "lin_api_", _A + "{32,}"),
    ("Netlify Token", "nfp_", _A + "{36,}"),
    ("New Relic Key", "NRAK-", "[A-Z0-9]{27,}"),
    ("Notion Token", "ntn_", _A + "{40,}"),
    ("Notion Token", "secret_", _A + "{43}(?![A-Za-z0-9_])"),
    ("npm Token", "npm_", _A + "{30,}"),
    ("NVIDIA API Key", "nvapi-", _W + "{40,}"),
    ("1Password Token", "ops_eyJ", r"[A-Za-z0-9_+/=-]{100,}"),
    *(
        ("OpenAI API Key", f"sk-{kind}-", _W + "{20,}")
        for kind in ("proj", "svcacct", "admin", "None", "service")
    ),
    ("OpenRouter API Key", "sk-or-v1-", _W + "{20,}"),
    ("Langfuse Key", "sk-lf-", _HEX + "{8}-" + _W + "{20,}"),
    ("API Key", "sk-", "[A-Za-z0-9_]{20,}"),
    ("API Key", "sk_", _HEX + "{40,}"),
    ("Perplexity API Key", "pplx-", _A + "{40,}"),
    *(
        ("PlanetScale Token", f"pscale_{kind}_", r"[A-Za-z0-9_.=-]{32,}")
        for kind in ("tkn", "pw", "oauth")
    ),
    ("Postman API Key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{30,}"),
    ("Pulumi Token", "pul-", _HEX + "{40}" + _A + "*"),
    ("PyPI Token", "pypi-AgE", _W + "{50,}"),
    ("Replicate Token", "r8_", _A + "{30,}"),
    ("RubyGems Key", "rubygems_", _HEX + "{40,}"),
    ("SendGrid API Key", "SG.", r"[A-Za-z0-9_-]{16,32}\." + _W + "{20,}"),
    *(
        ("Sentry Token", prefix, r"[A-Za-z0-9_+/=.-]{40,}")
        for prefix in ("sntrys_", "sntryu_", "sntrya_")
    ),
    *(("Shopify Token", f"shp{kind}_", _HEX + "{32,}") for kind in ("at", "ca", "pa", "ss")),
    *(("Slack Token", f"xox{letter}-", "[0-9][A-Za-z0-9-]{9,}") for letter in "abceoprs"),
    ("Slack Token", "xoxd-", "[A-Za-z0-9%+/_-]{20,}"),
    ("Slack Token", "xapp-", r"[0-9]-[A-Za-z0-9-]{10,}"),
    *(("Square Token", prefix, _W + "{22,}") for prefix in ("sq0csp-", "sq0atp-", "sq0idp-")),
    *(
        ("Stripe Key", f"{role}_{mode}_", _A + "{10,}")
        for role in ("sk", "rk")
        for mode in ("live", "test", "prod")
    ),
    ("Supabase Token", "sbp_", _HEX + "{40,}"),
    ("Supabase Token", "sb_secret_", _W + "{20,}"),
    ("Tailscale Key", "tskey-", r"[a-z]{2,12}-[A-Za-z0-9-]{20,}"),
    ("Tavily API Key", "tvly-", _W + "{20,}"),
    ("Twilio Key", "AC", "[0-9a-f]{32}(?![A-Za-z0-9_])"),
    ("Twilio Key", "SK", "[0-9a-f]{32}(?![A-Za-z0-9_])"),
    ("Webhook Secret", "whsec_", "[A-Za-z0-9+/=_-]{20,}"),
    ("xAI API Key", "xai-", "[A-Za-z0-9_]{40,}"),
)
"""Kind, the literal prefix, and the pattern after it."""

_TOKENS: Final = tuple(
    Format(kind, start, re.compile(_WORD + re.escape(start) + rest))
    for kind, start, rest in _PREFIXED
)

_OTHER_FORMATS: Final = (
    # The literal is not at the start.
    Format(
        "Azure AD Client Secret",
        "Q~",
        re.compile(_word_start("A-Za-z0-9_~.-") + r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}"),
        offset=4,
    ),
    Format(
        "Mailchimp API Key",
        "-us",
        re.compile(_DASHED + r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9_])"),
        offset=32,
    ),
    # After a dash it is part of the name of a cache key.
    Format(
        "Mailgun API Key",
        "key-",
        re.compile(_DASHED + r"key-[0-9a-f]{32}(?![A-Za-z0-9_-])"),
    ),
    Format(
        "Terraform Cloud Token",
        ".atlasv1.",
        re.compile(_DASHED + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}"),
        offset=14,
    ),
    # The open repeats are possessive, and their characters cannot precede the match.
    Format(
        "JSON Web Token",
        "eyJ",
        re.compile(
            _DASHED + r"eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]*+){0,3}"
        ),
    ),
    # Webhook URLs: the last part is the secret, it allows to post.
    *(
        Format(
            "Discord Webhook",
            host,
            re.compile(re.escape(host) + r"[0-9]{1,25}/[A-Za-z0-9_-]{20,}"),
        )
        for host in (
            f"{name}.com/api/{version}webhooks/"
            for name in ("discord", "discordapp")
            for version in ("", "v6/", "v7/", "v8/", "v9/", "v10/")
        )
    ),
    *(
        Format("Slack Webhook", prefix, re.compile(re.escape(prefix) + r"[A-Za-z0-9_/-]{20,}"))
        for prefix in (f"hooks.slack.com/{kind}/" for kind in ("services", "workflows", "triggers"))
    ),
    Format(
        "Teams Webhook",
        "webhook.office.com/",
        re.compile(r"webhook\.office\.com/[A-Za-z0-9_@/-]{40,}"),
    ),
    Format(
        "Azure Shared Access Signature",
        "sig=",
        re.compile(r"(?<=[?&;])sig=(?:[A-Za-z0-9+/=_-]|%[0-9A-Fa-f]{2}){20,}"),
    ),
)

_DISCORD: Final = re.compile(
    _word_start("A-Za-z0-9_.-") + r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"
)
_TELEGRAM: Final = re.compile(_WORD + r"[0-9]{6,16}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])")

FORMATS: Final = _TOKENS + _OTHER_FORMATS

PATTERNS: Final = (("Discord Token", _DISCORD), ("Telegram Bot Token", _TELEGRAM))
"""Formats without a literal; everything before the last repeat is bounded."""

PRIVATE_KEY: Final = "Private Key"

_PEM: Final = "PRIVATE KEY"
_PUTTY_FILE: Final = "PuTTY-User-Key-File-"

_LABEL: Final = r"-{4,5} ?%s (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_BEGIN: Final = re.compile(_LABEL % "BEGIN")
_END: Final = re.compile(_LABEL % "END")
_PUTTY: Final = re.compile(r"PuTTY-User-Key-File-[0-9]")
_PUTTY_END: Final = re.compile(r"Private-MAC: ?[0-9a-fA-F]*")
_PUTTY_BODY: Final = re.compile(r"[ 0-9]*(?>(?:\s+[A-Za-z0-9+/=]+)*)")
_MAX_KEY: Final = 64 * 1024
"""Longest key, in characters; a start and an end further apart do not belong together."""

_MAX_LINE: Final = 1_000
"""Longest line of a key, in characters."""

_GAP: Final = r"(?:\\[nrt]|[^A-Za-z0-9+/=\\]){0,24}"
_KEY_BODY: Final = re.compile(
    rf"(?>(?:\s*+[A-Z][A-Za-z-]{{2,20}}: [^\r\n]{{0,200}}+){{0,8}})"
    rf"(?>(?:{_GAP}[A-Za-z0-9+/=]{{16,}}+)+)"
    r"(?:(?:\\n|\r?\n)[A-Za-z0-9+/=]++)?"
)
"""Headers and lines of base64 after a start without an end."""
_KEY_LINE: Final = re.compile(r"[^A-Za-z0-9+/=]{0,8}[A-Za-z0-9+/=]+[^A-Za-z0-9+/=]{0,8}")


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of private keys, in order."""
    if _PEM in text:
        yield from _pem_blocks(text)
    if _PUTTY_FILE in text:
        yield from _putty_keys(text)


def _pem_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans from BEGIN to END lines; if one is missing, with the base64 next to it."""
    marks = sorted(
        [(match.span(), True) for match in _BEGIN.finditer(text)]
        + [(match.span(), False) for match in _END.finditer(text)]
    )
    done = 0
    for number, ((start, end), begins) in enumerate(marks):
        if start < done:
            continue
        if begins:
            after = marks[number + 1] if number + 1 < len(marks) else None
            if after is not None and not after[1] and after[0][0] - end <= _MAX_KEY:
                stop = after[0][1]
            else:
                body = _KEY_BODY.match(text, end)
                if body is None:  # a text about keys
                    continue
                stop = body.end()
            yield start, stop
            done = stop
        else:
            begin = _key_body_before(text, max(done, start - _MAX_KEY), start)
            if begin < start:
                yield begin, end
                done = end


def _key_body_before(text: str, least: int, end: int) -> int:
    """Return the start of the base64 lines before an end that has no start."""
    begin = line_end = end
    while line_end > least:
        bound = max(least, line_end - _MAX_LINE)
        line_start = text.rfind("\n", bound, line_end - 1) + 1
        if line_start == 0 and bound > 0:
            break
        line = text[max(line_start, least) : line_end].strip()
        if line and _KEY_LINE.fullmatch(line) is None:
            break
        if line:
            begin = max(line_start, least)
        line_end = line_start
    return begin


def _putty_keys(text: str) -> Iterator[tuple[int, int]]:
    ends = [match.span() for match in _PUTTY_END.finditer(text)]
    starts = [match.start() for match in _PUTTY.finditer(text)]
    done = 0
    for number, start in enumerate(starts):
        if start < done:
            continue
        later = starts[number + 1] if number + 1 < len(starts) else len(text)
        at = bisect_right(ends, (start, start))
        if at < len(ends) and ends[at][0] < later and ends[at][0] - start <= _MAX_KEY:
            done = ends[at][1]
        else:
            lines = text.find("Private-Lines:", start, min(later, start + _MAX_KEY))
            if lines < 0:
                continue
            body = _PUTTY_BODY.match(text, lines + 14)
            done = body.end() if body else lines + 14
        yield start, done
