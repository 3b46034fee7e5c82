"""Find secrets by the keyword or syntax next to them.

Passwords in URLs and connection strings, `Authorization` headers, and values assigned to a name
such as `DB_PASSWORD`. References (`$TOKEN`, `os.environ[...]`, `<your key>`) are not secrets. A
search finds a literal and tries a pattern there; the pattern consumes what it reads or reads a
bounded number of characters, so time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]

_REFERENCE: Final = re.compile(
    r"""(?ix)
    \[masked\]
    | \\?\$[a-z_{(\[] | \$\$? (?:$|[/"']) | % [a-z_(s{] | [<{(*\[] | \#\{ | \.\.\. | …
    | (.)\1*$
    | (?:null|none|nil|undefined|true|false|yes|no|string|str|bytes|text|int|number|bool|boolean
        |any|object|optional|required|password|passwd|pass|secret|token|value|redacted|hidden
        |masked|api_?key|env|n/a)
      (?:$|[\s,;:.!?|)\]}\[(<])
    | (?:your|my|insert|replace|enter|some|example|dummy|sample|placeholder|todo)[-_ .]
    | (?:os|sys|process|import|env|environ|secrets|settings|config|self|this|vars|var|local|data
        |module|args|opts|options|params|request|req|github|inputs|steps|credentials|ctx|context)
      (?:\.|\[|->|::|!)
    | [a-z_][\w.]*(?:\(|\[["'a-z]) | [a-z_]\.[a-z_]\w*$
    | ~?\.{0,2}/[\w.@-]*(?:/[\w.@-]+)*/?$
    | [a-z]:\\
    | @[/.\w]
    | \#[0-9a-f]{3,8}$
    """
)
"""A value that refers to a secret or is a placeholder for one."""

_PLACEHOLDER: Final = re.compile(r"[A-Z][A-Z_]*$|[A-Z]+_[A-Z_]*$")
"""A word in capital letters, as in help texts: `--token TOKEN`."""

_KEYWORDS: Final = (
    *("password", "passwd", "passphrase", "passcode", "passwort", "secret", "token", "credential"),
    *("key", "_pass", ".pass", "-pass", "pwd", "_auth"),
)
"""Literals that the names of secrets contain; each is searched for first."""

_KEYWORD: Final = re.compile(
    r"(?i:passwords?|passwd|passphrase|passcode|passwort|secret(?![_-]?key)|token|credentials?"
    r"|(?:(?<=api)|(?<=api[_-])|(?<=access)|(?<=access[_-])|(?<=secret)|(?<=secret[_-])"
    r"|(?<=private)|(?<=private[_-])|(?<=auth)|(?<=auth[_-])|(?<=account)|(?<=account[_-])"
    r"|(?<=master[_-])|(?<=encryption[_-])|(?<=signing[_-]))key(?:_base)?"
    r"|[_.-]pass|(?<=[_.-])pwd|_auth)(?:_[0-9]{1,3})?"
)
_QUOTED: Final = (
    r"""(?:\\"(?P<e>(?>(?:[^"\\\r\n]|\\[^"\r\n])*))|"(?P<d>(?>(?:[^"\\\r\n]|\\[^\r\n])*))"""
    r"""|'(?P<s>(?>(?:[^'\\\r\n]|\\[^\r\n])*)))"""
)
_BARE: Final = r"""(?P<b>(?>(?:[^\s"'`\\]|\\(?![nrt"'\s]))+))"""

_ENVIRONMENT: Final = re.compile(f"=(?:{_QUOTED}|{_BARE})")
"""`DB_PASSWORD=…`, `export API_TOKEN="…"`: capital letters, no space around `=`."""
_LITERAL: Final = re.compile(
    r"(?:(?:\\?[\"'])?\]?[ \t]{0,8}(?::=|=>|[:=])|\\?[\"'][ \t]{0,8},)[ \t]{0,8}[bfr@]?" + _QUOTED
)
"""`password = "…"`, `"apiKey": "…"`."""
_PLAIN: Final = re.compile(
    r"(?:\\?[\"'])?[ \t]{0,20}[:=][ \t]{0,8}(?P<b>[A-Za-z0-9_+/=.~!@#%^&*-]++)(?![(\[,])"
)
"""`api_key: …`, `db.password=…`."""
_FLAG: Final = re.compile(rf"(?:=|[ \t]{{1,4}})(?:{_QUOTED}|{_BARE})")
"""`--password …`, `--token=…`."""
_MAX_NESTED: Final = 200
"""Longest value, in characters, that is searched for a nested assignment."""
_FLAG_PREFIX: Final = re.compile(
    r"(?:^|[\s\"'`,\[(])--?(?:[a-z0-9]{1,20}-){0,3}(?:api|access|secret)?$"
)

_HEADER: Final = re.compile(
    r"(?i:authorization)\\?[\"']?\]?[ \t]{0,4}[:=,][ \t]{0,4}[bf]?(?:\\?[\"'`])?[ \t]{0,4}"
    r"(?P<scheme>(?i:basic|bearer|token|digest|apikey|bot|splunk|negotiate|ntlm|key"
    r"|aws4-hmac-sha256|sharedkey)[ \t=:]{1,4})?(?P<b>[^\s\"'`\\,;<>]++)"
)
_BEARER: Final = re.compile(r"(?i:\b(?:bearer|basic))[ \t]{1,4}(?P<b>[A-Za-z0-9_.~+/=-]{16,}+)")
_KEY_HEADER: Final = re.compile(
    r"(?i:(?:x-[a-z-]{0,16}(?:key|token|secret|auth)|private-token|job-token|api-key))"
    r"\\?[\"']?[ \t]{0,4}:[ \t]{0,4}(?:\\?[\"'`])?(?P<b>[A-Za-z0-9_.~+/=-]{8,}+)"
)

_AUTHORITY: Final = re.compile(r"""://[^\s/:@"'`<>\\]*+:(?P<b>[^\s/"'`<>\\]+)(?=@)""")
"""`scheme://user:password@host`. No `/` inside, so no character is read for two matches."""
_USER: Final = re.compile(r"://(?P<b>[A-Za-z0-9_-]{20,}+)(?=@)")
_ADDRESS: Final = re.compile(r"(?://|jdbc:|\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) /)[^\s\"'`<>]++")
_PARAMETER: Final = re.compile(
    r"[?&;#](?:amp;)?(?P<name>[A-Za-z_.-]{1,40}+)=(?P<b>[^\s&;#\"'<>]++)"
)
_PARAMETER_NAME: Final = re.compile(
    r"(?i)(?:(?P<sure>password|passwd|pwd|passphrase|token|secret|pass)"
    r"|api[_-]?key|signature|sig|credential|auth|key|jwt|code)$"
)
_ORACLE: Final = re.compile(r"jdbc:oracle:[a-z]{1,10}:[^\s/@:\"']{1,100}/(?P<b>[^\s@/\"']++)(?=@)")
_REGISTRY: Final = re.compile(
    rf":_(?:authToken|auth|password)[ \t]{{0,4}}=[ \t]{{0,4}}(?:{_QUOTED}|{_BARE})"
)
_CURL: Final = re.compile(
    r"(?<=[ \t])(?:-u|--user|--proxy-user|-U)[ \t=]{0,4}[\"']?"
    r"[A-Za-z0-9_.@+-]{1,100}:(?P<b>[^\s\"'`]++)"
)
_CURL_CALL: Final = re.compile(r"\b(?:curl|wget|https?|xh)\b")

_CONNECTION: Final = re.compile(
    r"(?i:\b(?:server|data source|host|hostname|address|addr|database|initial catalog|dbq|uid"
    r"|user ?id|user|username|user name|endpoint|accountname|sharedaccesskeyname|driver|provider"
    r"|dsn|port)[ \t]?=)"
)
_CONNECTION_PASSWORD: Final = re.compile(
    r"(?i:(?<![A-Za-z0-9_])(?:password|pwd|accountkey|sharedaccesskey|sharedsecret|access key))"
    r"[ \t]?=[ \t]?(?:\\?\"(?P<d>[^\"\\;\r\n]*+)|'(?P<s>[^';\r\n]*+)|(?P<b>[^;\"'\\\r\n<>&]++))"
)
_CODE_OPERATOR: Final = re.compile(r"[=|&?+] |\(")
_MAX_DISTANCE: Final = 400
"""Longest distance, in characters, from a password to the rest of its connection string."""
_AWS: Final = re.compile(
    r"(?i:aws|secret)(?:[_ .-]?(?i:secret|access|key|token|id)){1,4}(?:\\?[\"'])?[ \t]{0,20}"
    r"(?:=>|[:=,>])[ \t]{0,8}(?:\\?[\"'])?(?P<b>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)


_MAX_REFERENCE: Final = 500
"""Characters of a value that are tested for a reference."""


def keyword_spans(text: str) -> Iterator[tuple[str, Span]]:
    """Yield kind and span of the secrets of a text that a keyword or syntax reveals."""
    folded = text.replace("\u0130", "i").lower()  # lower() would make this letter two characters
    for kind, literals, find in _RULES:
        if any(literal in folded for literal in literals):
            for span in find(text, folded):
                yield kind, span


def is_reference(value: str) -> bool:
    """Whether a value refers to a secret elsewhere or is a placeholder in an example."""
    stripped = value[:_MAX_REFERENCE].strip()
    return not stripped or _REFERENCE.match(stripped) is not None


def _matches(
    literals: Iterable[str], pattern: re.Pattern[str], text: str, folded: str
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern at the places of its literals."""
    for literal in literals:
        at = folded.find(literal)
        while at >= 0:
            match = pattern.match(text, at)
            if match is not None:
                yield match
            at = folded.find(literal, match.end() if match else at + 1)


def _value_span(match: re.Match[str]) -> Span:
    """Return the span of the value: the one group that matched, by its kind of quotes."""
    return match.span(match.lastgroup or 0)


def _spans(
    matches: Iterable[re.Match[str]], text: str, accepts: Callable[[str], bool] = bool
) -> Iterator[Span]:
    for match in matches:
        start, end = _value_span(match)
        value = text[start:end]
        if accepts(value) and not is_reference(value):
            yield start, end


_DIGIT: Final = re.compile("[0-9]")


def _has_digit(value: str) -> bool:
    return _DIGIT.search(value) is not None


def _is_mixed(value: str) -> bool:
    """Whether a value has letters and digits and no white space, as generated ones have."""
    return (
        len(value) >= 6
        and _has_digit(value)
        and any(map(str.isalpha, value))
        and not any(map(str.isspace, value))
    )


def _is_random(value: str) -> bool:
    """Whether a value is too random for the name of something."""
    return len(value) >= 16 and sum(map(str.isdigit, value)) >= 3 and _is_mixed(value)


def _is_environment_secret(value: str) -> bool:
    return len(value) >= 4 and not (value.isdigit() and len(value) < 6)


def _is_flag_secret(value: str) -> bool:
    if len(value) < 6 or value.startswith("-") or value.isalpha():
        return False
    return _PLACEHOLDER.match(value) is None


def _assignments(text: str, folded: str) -> Iterator[Span]:
    """Yield the values assigned to a name that contains a keyword."""
    for word in _KEYWORDS:
        examined = dict.fromkeys((_ENVIRONMENT, _FLAG, _LITERAL, _PLAIN), 0)
        for name in _matches([word], _KEYWORD, text, folded):
            for pattern, accepts in _assignment_forms(name):
                if name.start() < examined[pattern]:
                    continue
                match = pattern.match(text, name.end())
                if match is None:
                    continue
                if match.end() - match.start() > _MAX_NESTED:
                    examined[pattern] = match.end()
                start, end = _value_span(match)
                value = text[start:end]
                if not accepts(value) or is_reference(value):
                    continue
                if pattern is not _PLAIN or _is_plain_secret(text, name.start(), start, end):
                    yield start, end
                    break


def _assignment_forms(
    name: re.Match[str],
) -> Iterator[tuple[re.Pattern[str], Callable[[str], bool]]]:
    """Yield the kinds of assignment a name may start, and the test for a secret value."""
    if name[0].isupper():
        yield _ENVIRONMENT, _is_environment_secret
    elif _FLAG_PREFIX.search(name.string[max(0, name.start() - 40) : name.start()]):
        yield _FLAG, _is_flag_secret
    yield _LITERAL, _is_mixed
    yield _PLAIN, _is_mixed


def _is_plain_secret(text: str, name: int, start: int, end: int) -> bool:
    return _is_random(text[start:end]) or _is_whole_line(text, name, start, end)


def _is_whole_line(text: str, name: int, start: int, end: int) -> bool:
    """Whether an assignment is a whole line, as in properties files or YAML."""
    if end < len(text) and text[end] not in "\r\n":
        return False
    bound = max(0, name - 100)
    begin = text.rfind("\n", bound, name) + 1
    if begin == 0 and bound > 0:
        return False
    return _PROPERTY.fullmatch(text, begin, start) is not None


_PROPERTY: Final = re.compile(r"[ \t>+-]*[\w.-]+(?:=|:[ \t]{1,8})")


def _headers(text: str, folded: str) -> Iterator[Span]:
    for header in _matches(["authorization"], _HEADER, text, folded):
        value = header["b"]
        known = header["scheme"] is not None and len(value) >= 6
        if (known or _is_random(value)) and not is_reference(value):
            yield header.span("b")
    yield from _spans(_matches(["bearer", "basic"], _BEARER, text, folded), text, _has_digit)
    keys = _matches(["x-", "private-token", "job-token", "api-key"], _KEY_HEADER, text, folded)
    yield from _spans(keys, text, _is_mixed)


def _authorities(text: str, _: str) -> Iterator[Span]:
    yield from _spans(_AUTHORITY.finditer(text), text, lambda value: value != "x-oauth-basic")
    yield from _spans(_USER.finditer(text), text, _is_random)


def _parameters(text: str, folded: str) -> Iterator[Span]:
    for address in _ADDRESS.finditer(text):
        for match in _PARAMETER.finditer(text, address.start(), address.end()):
            name = _PARAMETER_NAME.search(match["name"])
            value = match["b"]
            if name is None or is_reference(value):
                continue
            if name["sure"] is not None or (len(value) >= 16 and _has_digit(value)):
                yield match.span("b")
    yield from _spans(_matches(["jdbc:oracle:"], _ORACLE, text, folded), text)


def _connections(text: str, folded: str) -> Iterator[Span]:
    """Yield passwords next to a `;` with another part of a connection string nearby."""
    literals = ("password", "pwd", "accountkey", "sharedaccesskey", "sharedsecret", "access key")
    parts: list[int] | None = None
    for match in _matches(literals, _CONNECTION_PASSWORD, text, folded):
        start, end = _value_span(match)
        before = text[max(0, match.start() - 2) : match.start()].rstrip(" ")
        after = text[end : end + 3].lstrip("\"'\\")
        if not (before.endswith(";") or after.startswith(";")):
            continue
        if is_reference(text[start:end]) or _CODE_OPERATOR.search(text, start, end):
            continue
        if parts is None:
            parts = [part.start() for part in _CONNECTION.finditer(text)]
        at = bisect_left(parts, match.start())
        if any(
            abs(position - match.start()) <= _MAX_DISTANCE
            for position in parts[max(0, at - 1) : at + 1]
        ):
            yield start, end


def _commands(text: str, folded: str) -> Iterator[Span]:
    calls: list[int] | None = None
    users = _matches(["-u", "--user", "--proxy-user"], _CURL, text, folded)
    for start, end in _spans(users, text, lambda value: not value.isdigit()):
        if calls is None:
            calls = [match.end() for match in _CURL_CALL.finditer(text)]
        at = bisect_left(calls, start)
        if at and start - calls[at - 1] <= _MAX_DISTANCE:
            yield start, end


def _registries(text: str, folded: str) -> Iterator[Span]:
    yield from _spans(_matches([":_auth", ":_password"], _REGISTRY, text, folded), text)


def _aws(text: str, folded: str) -> Iterator[Span]:
    for match in _matches(["aws", "secret"], _AWS, text, folded):
        yield match.span("b")


_RULES: Final[tuple[tuple[str, tuple[str, ...], Callable[[str, str], Iterator[Span]]], ...]] = (
    ("Password in URL", ("://",), _authorities),
    ("Secret in URL", ("//", "jdbc:", " /"), _parameters),
    (
        "Authorization Header",
        ("authorization", "bearer", "basic", "x-", "-token", "api-key"),
        _headers,
    ),
    ("Connection String", (";",), _connections),
    ("AWS Secret Key", ("aws", "secret"), _aws),
    ("Registry Token", (":_",), _registries),
    ("Password of a Command", (" -u", "\t-u", "-user"), _commands),
    ("Assigned Secret", _KEYWORDS, _assignments),
)
"""Kind, literals of which the text must contain one, and the function that finds it."""
