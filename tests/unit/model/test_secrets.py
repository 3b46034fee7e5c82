"""What counts as a secret, what does not, and what masking leaves.

The examples are made up and assembled at run time: repository hosts reject what looks real.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from re import _constants as sre_constants  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.model.config import Redaction
from vibes_lsp.model.secret_formats import FORMATS, PATTERNS, Format
from vibes_lsp.model.secret_keywords import is_reference
from vibes_lsp.model.secrets import (
    MASK,
    SHORTEST_MATCH,
    SHORTEST_TOKEN,
    mask_secrets,
    secret_kinds,
)

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
REPEATS = (sre_constants.MAX_REPEAT, sre_constants.MIN_REPEAT, sre_constants.POSSESSIVE_REPEAT)
ASSERTIONS = (sre_constants.ASSERT, sre_constants.ASSERT_NOT, sre_constants.AT)


def made_up(length: int, alphabet: str = ALNUM) -> str:
    """Return a text that looks random but is always the same."""
    return "".join(random.Random(length).choices(alphabet, k=length))


TOKENS = {
    "age": "AGE-SECRET-KEY-1" + made_up(58, string.ascii_uppercase + string.digits),
    "airtable": "pat" + made_up(14) + "." + made_up(64, HEX),
    "anthropic": "sk-ant-" + "api03-" + made_up(60),
    "artifactory": "AKCp" + made_up(69),
    "atlassian": "ATATT3" + "xFfGF0" + made_up(180) + "=1A2B3C4D",
    "aws access key": "AKIA" + made_up(16, string.ascii_uppercase + string.digits),
    "aws session key": "ASIA" + made_up(16, string.ascii_uppercase + string.digits),
    "azure ad": "aB3" + "8Q~" + made_up(34, ALNUM + "-_~."),
    "bitbucket": "ATBB" + made_up(32),
    "databricks": "dapi" + made_up(32, HEX),
    "digitalocean": "dop_v1_" + made_up(64, HEX),
    "discord": "M" + made_up(25) + "." + made_up(6) + "." + made_up(38),
    "discord webhook": "https://discord.com/api/webhooks/" + "123456789012345678/" + made_up(68),
    "docker": "dckr_pat_" + made_up(27),
    "doppler": "dp.pt." + made_up(43),
    "github fine-grained": "github_pat_" + made_up(22) + "_" + made_up(59),
    "github app": "ghs_" + made_up(36),
    "github oauth": "gho_" + made_up(36),
    "gitlab": "glpat-" + made_up(20),
    "gitlab routable": "glpat-" + made_up(27) + ".01." + made_up(9),
    "google api": "AIza" + made_up(35),
    "google oauth secret": "GOCSPX-" + made_up(28),
    "google oauth token": "ya29." + "a0" + made_up(120, ALNUM + "-_"),
    "grafana": "glsa_" + made_up(32) + "_" + made_up(8, HEX),
    "groq": "gsk_" + made_up(52),
    "hugging face": "hf_" + made_up(34),
    "json web token": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + made_up(43),
    "langfuse": "sk-lf-" + "0b1c2d3e-aaaa-bbbb-cccc-0123456789ab",
    "linear": "lin_api_" + made_up(40),
    "mailchimp": made_up(32, HEX) + "-us12",
    "mailgun": "key-" + made_up(32, HEX),
    "new relic": "NRAK-" + made_up(27, string.ascii_uppercase + string.digits),
    "npm": "npm_" + made_up(36),
    "openai": "sk-" + made_up(48),
    "openai project": "sk-proj-"
    + made_up(20)
    + "-"
    + made_up(30)
    + "_"
    + made_up(40)
    + "-x"
    + made_up(8),
    "openai service": "sk-svcacct-" + made_up(20) + "-" + made_up(30),
    "openrouter": "sk-or-v1-" + made_up(64, HEX),
    "postman": "PMAK-" + made_up(24, HEX) + "-" + made_up(34, HEX),
    "pypi": "pypi-AgE" + "IcHlwaS5vcmc" + made_up(100),
    "rubygems": "rubygems_" + made_up(48, HEX),
    "sendgrid": "SG." + made_up(22) + "." + made_up(43),
    "sentry": "sntrys_" + made_up(80),
    "shopify": "shpat_" + made_up(32, HEX),
    "slack app": "xapp-" + "1-A0123456789-1234567890123-" + made_up(64, HEX),
    "slack bot": "xoxb-" + "123456789012-1234567890123-" + made_up(24),
    "slack webhook": "https://hooks.slack.com/services/" + "T00000000/B00000000/" + made_up(24),
    "square": "sq0csp-" + made_up(43),
    "stripe": "sk_live_" + made_up(24),
    "stripe restricted": "rk_test_" + made_up(24),
    "supabase": "sbp_" + made_up(40, HEX),
    "tailscale": "tskey-auth-" + made_up(12) + "-" + made_up(32),
    "telegram": "1234567890:" + "AA" + made_up(33),
    "terraform": made_up(14) + ".atlasv1." + made_up(67),
    "twilio": "SK" + made_up(32, HEX),
    "vault": "hvs." + made_up(95),
    "webhook": "whsec_" + made_up(32),
    "xai": "xai-" + made_up(80),
}
"""A token of each kind."""

PASSWORD = "hunter2" + "-Tr0ub4dor"
RANDOM = made_up(40)
IN_CONTEXT = {
    "authorization basic": (f"Authorization: Basic {made_up(32)}==", made_up(32)),
    "authorization bearer": (f"curl -H 'Authorization: Bearer {RANDOM}' https://x.example", RANDOM),
    "authorization token": (f"authorization: token {RANDOM}", RANDOM),
    "authorization in json": (f'{{"Authorization": "Bearer {RANDOM}"}}', RANDOM),
    "authorization in escaped json": (f'{{\\"Authorization\\": \\"Bearer {RANDOM}\\"}}', RANDOM),
    "bearer alone": (f"use Bearer {RANDOM} for it", RANDOM),
    "api key header": (f"X-Api-Key: {RANDOM}", RANDOM),
    "gitlab header": (f"--header 'PRIVATE-TOKEN: {RANDOM}'", RANDOM),
    "password in url": (f"postgres://ada:{PASSWORD}@db.example.org/x", PASSWORD),
    "password with an at sign": ("postgres://ada:p@ssw0rd@db.example.org/x", "p@ssw0rd"),
    "password without user": (f"redis://:{PASSWORD}@cache:6379/0", PASSWORD),
    "git with token": (f"https://x-access-token:{RANDOM}@github.com/a/b.git", RANDOM),
    "token as user": (f"https://{made_up(32, HEX)}@errors.example.org/42", made_up(32, HEX)),
    "token in query": (f"https://x.example/a?b=c&access_token={RANDOM}&d=e", RANDOM),
    "token in fragment": (f"https://x.example/cb#access_token={RANDOM}&state=1", RANDOM),
    "password in query": ("https://x.example/login?user=ada&password=mellon-ada", "mellon-ada"),
    "api key in query": (f"https://x.example/v1?key={RANDOM}", RANDOM),
    "token in a log": (f'"GET /cb?token={RANDOM} HTTP/1.1" 200', RANDOM),
    "azure sas": (
        f"https://a.blob.core.windows.net/c/b?sv=2023-01-03&sp=r&sig={made_up(40)}%2Fab%3D",
        made_up(40),
    ),
    "sas string": (f"SharedAccessSignature sr=x&sig={made_up(40)}%3D&se=1&skn=k", made_up(40)),
    "signed amazon url": (
        f"https://b.s3.example/k?X-Amz-Signature={made_up(64, HEX)}",
        made_up(64, HEX),
    ),
    "jdbc query": ("jdbc:mysql://db:3306/x?user=ada&password=mellon-ada", "mellon-ada"),
    "jdbc properties": (
        "jdbc:sqlserver://db:1433;database=x;user=sa;password=Mellon.ada;a=b",
        "Mellon.ada",
    ),
    "jdbc oracle": ("jdbc:oracle:thin:scott/mellon-ada@db:1521:x", "mellon-ada"),
    "jdbc memory": ("jdbc:h2:mem:test;USER=sa;PASSWORD=mellon-ada", "mellon-ada"),
    "ado.net": ("Server=db;Database=x;User Id=sa;Password=mellon ada!;Encrypt=true", "mellon ada!"),
    "ado.net short": ("Data Source=db;Uid=sa;Pwd=mellon-ada", "mellon-ada"),
    "ado.net first": ('"Password=mellon-ada;Server=db;User Id=sa"', "mellon-ada"),
    "odbc": ("DRIVER={PostgreSQL};SERVER=db;UID=sa;PWD=mellon-ada;", "mellon-ada"),
    "azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey="
        + made_up(86)
        + "==;EndpointSuffix=y",
        made_up(86),
    ),
    "service bus": (
        f"Endpoint=sb://x.example/;SharedAccessKeyName=Root;SharedAccessKey={made_up(43)}=",
        made_up(43),
    ),
    "api token": ("API_TOKEN=mellon-ada", "mellon-ada"),
    "db password": (f"export DB_PASSWORD={PASSWORD} && run", PASSWORD),
    "quoted": ('DB_PASSWORD="correct horse battery"', "correct horse battery"),
    "quoted with quotes": ('DB_PASSWORD="correct\\"horse"', 'correct\\"horse'),
    "in escaped json": ('"run": "DB_PASSWORD=mellon-ada\\nHOST=x"', "mellon-ada"),
    "in escaped quotes": ('"run": "DB_PASSWORD=\\"mellon ada\\" run"', "mellon ada"),
    "docker run": ("docker run -e MYSQL_ROOT_PASSWORD=mellon-ada mysql", "mellon-ada"),
    "secret key base": (f"SECRET_KEY_BASE={made_up(64, HEX)}", made_up(64, HEX)),
    "django": (f"SECRET_KEY = 'django-insecure-{made_up(40)}'", made_up(40)),
    "aws secret": (f"aws_secret_access_key = {RANDOM}", RANDOM),
    "aws secret in json": (f'"SecretAccessKey": "{RANDOM}"', RANDOM),
    "client secret": (f'"client_secret": "{RANDOM}"', RANDOM),
    "camel case": (f"apiKey: '{RANDOM}',", RANDOM),
    "yaml": (f"db:\n  password: {PASSWORD}\n  port: 5432", PASSWORD),
    "properties": (f"spring.datasource.password={PASSWORD}\n", PASSWORD),
    "compose": (f"    POSTGRES_PASSWORD: {PASSWORD}\n", PASSWORD),
    "flag": (f"mysql --user ada --password={PASSWORD} x", PASSWORD),
    "flag apart": (f"login --token {RANDOM}", RANDOM),
    "curl": (f"curl -s -u ada:{PASSWORD} https://x.example", PASSWORD),
    "npmrc": (f"//registry.npmjs.org/:_authToken={made_up(36)}", made_up(36)),
    "npmrc password": ("//r.example/:_password=bWVsbG9uLWFkYQ", "bWVsbG9uLWFkYQ"),
}
"""Text with a secret that is known by what stands around it, and the secret."""

BODY = "\n".join(made_up(64 - n) for n in range(6))
PEM = {
    "rsa": f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----",
    "pkcs8": f"-----BEGIN PRIVATE KEY-----\r\n{BODY}\r\n-----END PRIVATE KEY-----",
    "openssh": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n-----END OPENSSH PRIVATE KEY-----",
    "pgp": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{BODY}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----",
    "encrypted": "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n"
    f"{BODY}\n-----END EC PRIVATE KEY-----",
    "in json": "-----BEGIN PRIVATE KEY-----\\n"
    + BODY.replace("\n", "\\n")
    + "\\n-----END PRIVATE KEY-----\\n",
    "in a diff": "+-----BEGIN PRIVATE KEY-----\n+"
    + BODY.replace("\n", "\n+")
    + "\n+-----END PRIVATE KEY-----",
    "cut at the end": f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}",
    "cut at the end, in json": "-----BEGIN PRIVATE KEY-----\\n" + BODY.replace("\n", "\\n"),
    "cut at the beginning": f"{BODY}\n-----END RSA PRIVATE KEY-----",
    "putty": "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 1\n"
    f"{made_up(60)}\nPrivate-Lines: 6\n{BODY}\nPrivate-MAC: {made_up(64, HEX)}",
    "putty, cut": f"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 6\n{BODY}",
}

STAYS = {
    "empty": "",
    "prose": "Write a digest. The key is under the mat; the password: must be at least eight characters.",
    "npm integrity": '"integrity": "sha512-' + made_up(86, ALNUM + "+/") + '==",',
    "yarn": f'resolved "https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#{made_up(40, HEX)}"\nintegrity sha512-{made_up(86)}==',
    "pnpm": "resolution: {integrity: sha512-" + made_up(86) + "==}",
    "subresource": f'<script integrity="sha384-{made_up(64)}" crossorigin="anonymous">',
    "cargo": f'checksum = "{made_up(64, HEX)}"',
    "go": f"golang.org/x/text v0.3.0/go.mod h1:{made_up(43)}=",
    "poetry": f'{{file = "a.whl", hash = "sha256:{made_up(64, HEX)}"}}',
    "pip": f"requests==2.0 --hash=sha256:{made_up(64, HEX)}",
    "docker digest": f"FROM python@sha256:{made_up(64, HEX)}",
    "git": f"commit {made_up(40, HEX)}\nindex {made_up(7, HEX)}..{made_up(8, HEX)} 100644",
    "uuid": "id 123e4567-e89b-12d3-a456-426614174000",
    "image": "url(data:image/png;base64," + made_up(4000, ALNUM + "+/") + "==)",
    "source map": "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJmaWxlIjoi"
    + made_up(400),
    "certificate": f"-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----",
    "public key": f"-----BEGIN PUBLIC KEY-----\n{BODY}\n-----END PUBLIC KEY-----",
    "ssh public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + made_up(43) + " ada@example.org",
    "a word about keys": "It begins with -----BEGIN PRIVATE KEY----- and then goes on.",
    "etag": f'ETag: "{made_up(32, HEX)}"',
    "url": "see https://example.org/a?b=c&page=2#top and http://localhost:3000/@vite/client",
    "url with user": "git+ssh://git@github.com/a/b.git https://ada@example.org",
    "port": "https://registry.example.org:443/@scope/name postgres://localhost:5432/db",
    "url with reference": "redis://:${REDIS_PASSWORD}@cache postgres://ada:$PW@db https://u:<password>@h",
    "query with reference": "https://x.example/?token=${TOKEN}&key=<your key>&api_key={api_key}",
    "css": ".sk-fading-circle .sk-circle-bounce-delay-long-name { animation: sk-bounce-delay-animation-12 }",
    "cache key": f"restore-key-{made_up(32, HEX)}",
    "identifiers": "npm_config_registry_for_the_whole_organisation hf_model_for_causal_language_modelling",
    "shell": 'API_TOKEN=$TOKEN DB_PASSWORD="${DB_PASSWORD}" SECRET=$(pass show x) API_KEY=`cat x` PWD=/home',
    "windows": "set API_TOKEN=%TOKEN%",
    "actions": "API_TOKEN: ${{ secrets.API_TOKEN }}",
    "template": "password: {{ .Values.password1 }}",
    "examples": "API_KEY=your-api-key-here TOKEN=<token> SECRET=... DB_PASSWORD=****** API_TOKEN=xxxxxxxx",
    "numbers": "MAX_TOKEN=4096 USE_TOKEN=true PASSWORD_MIN_LENGTH=12 COMPASS=north BYPASS=1234567",
    "files": "DB_PASSWORD_FILE=/run/secrets/db_password1 API_TOKEN=/run/secrets/api1 SECRET=./secret1.txt",
    "python": 'token = get_token(1)\npassword = os.environ["DB_PASSWORD1"]\nlogin(password=password1, token=t)',
    "python constant": "API_TOKEN=os.environ['API_TOKEN1']\nSECRET_KEY=config('SECRET_KEY1')",
    "typescript": "const token = await fetchToken1(); interface A { password: string; token?: string }",
    "javascript": "const {password, apiKey} = process.env; x.token=this.token1; a?token=b1:c",
    "minified": "var a=1;password=e.value;host=b.c;token=t.get(1);user=d",
    "form": '<input type="password" name="password" id="password1">',
    "messages": '"password": "Passwort", "forgot_password": "Forgot your password?", "token": "Token"',
    "header with reference": 'headers = {"Authorization": f"Bearer {token1}"}\nAuthorization: Bearer $TOKEN',
    "header in prose": "The Authorization: header is needed; basic authentication is not, and bearer tokens are.",
    "flags": "login --token TOKEN --password <password> --password $PW --api-key API_KEY",
    "docker user": "docker run -u 1000:1000 x; curl -u $USER:$PW https://x.example",
    "lock file names": "token-types@4.2.1 secret-stack@6.3.1 password-prompt@1.1.2",
    "already masked": f"API_TOKEN={MASK} https://u:{MASK}@h Authorization: Bearer {MASK}",
}
"""Text in which nothing is a secret."""


AROUND_TOKENS = [
    "{}",
    "It is {} now.",
    '"{}"',
    "x={}\n",
    "({})",
    "`{}`",
    "a\\n{}\\n",
    "x%3D{}&y=1",
    "\x1b[32m{}\x1b[0m",
]


@pytest.mark.parametrize("around", AROUND_TOKENS)
def test_a_token_is_masked_completely_at_any_place(around: str) -> None:
    assert around.count("{}") == 1
    masked = {name: mask_secrets(around.replace("{}", token)) for name, token in TOKENS.items()}
    assert {name: count for name, (_, count) in masked.items() if count != 1} == {}
    assert {
        name: text
        for name, (text, _) in masked.items()
        if TOKENS[name].removeprefix("https://")[:12] in text or TOKENS[name][-6:] in text
    } == {}


def test_every_token_has_a_kind() -> None:
    assert [name for name, token in TOKENS.items() if not secret_kinds(token)] == []


def test_a_secret_is_found_by_its_keyword() -> None:
    assert {
        name: problems
        for name, (text, secret) in IN_CONTEXT.items()
        if (
            problems := [
                *_problems_in_context(text, secret),
                *_problems_in_context(f"first\n{text}\nlast", secret),
            ]
        )
    } == {}


def _problems_in_context(whole: str, secret: str) -> Iterator[str]:
    masked, count = mask_secrets(whole)
    if whole.count(secret) < 1 or count != 1:
        yield f"{count} masked: {masked}"
    if not masked.startswith(whole[: whole.index(secret)].split("=", maxsplit=1)[0][:10]):
        yield f"its beginning is masked: {masked}"
    if any(secret[at : at + 4] in masked for at in range(len(secret) - 3)):
        yield f"part of the secret is left: {masked}"


def test_a_private_key_is_masked_completely() -> None:
    masked = {
        name: mask_secrets(f"before it.\n{key}\nThis, too: after it.") for name, key in PEM.items()
    }
    assert {name: count for name, (_, count) in masked.items() if count != 1} == {}
    assert {
        name: text
        for name, (text, _) in masked.items()
        if any(line in text for line in re.split(r"\\n|\s", BODY))
        or not text.startswith("before it.\n")
        or not text.endswith("after it.")
    } == {}


def test_other_text_is_not_masked() -> None:
    assert {name: mask_secrets(text) for name, text in STAYS.items()} == {
        name: (text, 0) for name, text in STAYS.items()
    }
    assert [name for name, text in STAYS.items() if secret_kinds(text)] == []


PARTS = [
    *TOKENS.values(),
    *(text for text, _ in IN_CONTEXT.values()),
    *PEM.values(),
    *STAYS.values(),
]
GLUE = [
    " ",
    "\n",
    "\r\n",
    "\u2028",
    ";",
    "=",
    '"',
    "'",
    "\\n",
    "@",
    "://",
    "-",
    "_",
    "",
    MASK,
    "İ",
    "é",
]
WORDS = [
    "password=",
    "API_TOKEN=",
    "Authorization: ",
    "Server=x;",
    "eyJ",
    "sk-",
    "-----BEGIN RSA PRIVATE KEY-----",
]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(PARTS),
            st.sampled_from(GLUE),
            st.sampled_from(WORDS),
            st.text(max_size=8),
        )
    )
)
def test_masking_is_idempotent(parts: list[str]) -> None:
    text = "".join(parts)
    masked, count = mask_secrets(text)
    assert mask_secrets(masked) == (masked, 0)
    assert not secret_kinds(masked)
    assert bool(count) == (masked != text)
    assert bool(count) == bool(secret_kinds(text))


@given(
    st.sampled_from(PARTS),
    st.sampled_from(PARTS),
    st.integers(0),
    st.lists(st.sampled_from(["asked", "m", "d] a*", "ed]*"])),
)
def test_masking_is_idempotent_for_parts_and_project_texts(
    one: str, two: str, cut: int, mask: list[str]
) -> None:
    text = one[: cut % (len(one) + 1)] + two
    rules = Redaction(mask=mask, allow=[one[:9]] if one[:9] else [])
    masked, _ = mask_secrets(text, rules)
    assert mask_secrets(masked, rules) == (masked, 0)


@given(
    st.lists(st.sampled_from(list(TOKENS.values())), min_size=1, max_size=4),
    st.sampled_from([" ", "\n", ", ", '" "']),
)
def test_adjacent_tokens_are_masked_completely(tokens: list[str], glue: str) -> None:
    masked, count = mask_secrets(glue.join(tokens))
    assert count == len(tokens)
    assert all(token[-8:] not in masked for token in tokens)


def test_a_reference_is_not_a_secret() -> None:
    references = [
        "$X", "${X}", "%X%", "<x>", "{x}", "os.environ", "get(x)", "/run/secrets/x", "", "   ", "***",
    ]  # fmt: skip
    assert [value for value in references if not is_reference(value)] == []


GUARDED = {"JSON Web Token"}
"""Kinds whose first repeat is followed by more: it is possessive and begins with a word."""


def test_a_match_of_a_pattern_cannot_fail_once_an_open_repeat_began() -> None:
    """So a failure costs bounded time and a match is consumed: matching is linear."""
    patterns = [(form.kind, form.pattern) for form in FORMATS if form.kind not in GUARDED]
    assert [kind for kind, pattern in (*patterns, *PATTERNS) if _fails_late(pattern)] == []


def _fails_late(pattern: re.Pattern[str]) -> bool:
    """Whether anything must match after the first unbounded repeat."""
    items = list(sre_parser.parse(pattern.pattern))
    opened = [
        number
        for number, (op, argument) in enumerate(items)
        if op in REPEATS and argument[1] is sre_constants.MAXREPEAT
    ]
    if not opened:
        return False
    return any(
        op in ASSERTIONS or op not in REPEATS or argument[0] > 0
        for op, argument in items[opened[0] + 1 :]
    )


LOOKAROUND = re.compile(r"\(\?<?[=!](?:\[[^\]]*\]|\\.|[^()])*\)")
CLASS = re.compile(r"\[[^\]]*\]")


def test_a_token_is_a_word_of_at_least_the_shortest_length() -> None:
    assert {
        f"{form.kind} {form.literal}": problems
        for form in FORMATS
        if (problems := list(_problems_of_format(form)))
    } == {}


def _problems_of_format(form: Format) -> Iterator[str]:
    if sre_parser.parse(form.pattern.pattern).getwidth()[0] < SHORTEST_TOKEN:
        yield "it can be shorter"
    consumed = LOOKAROUND.sub("", form.pattern.pattern)
    if any(each.startswith("[^") for each in CLASS.findall(consumed)):
        yield "it consumes all characters but some"
    if re.search(r"\s|\\[sDW]|(?<!\\)\.", CLASS.sub("", consumed)):
        yield "it consumes blanks or any character"
    if re.search(r"\s", form.literal):
        yield "its literal has a blank"


def test_a_token_without_a_literal_is_not_shorter_than_expected() -> None:
    shortest = min(sre_parser.parse(each.pattern).getwidth()[0] for _, each in PATTERNS)
    assert shortest == SHORTEST_MATCH
