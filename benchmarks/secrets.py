"""How fast secrets are masked, and whether masking is linear, in ordinary and adversarial texts.

Each text is masked at one, two and four times its size; linear masking takes 2 and 4 times as long.
"""

from __future__ import annotations

from functools import partial

from benchmarks.measure import min_cpu_seconds
from vibes_lsp.model.secret_formats import FORMATS
from vibes_lsp.model.secrets import mask_secrets

SIZE = 1 << 18

TEXTS = {
    "prose": "The quick brown fox jumps over the lazy dog. ",
    "one letter": "a",
    "base64": "iVBORw0KGgoAAAANSUhEUgAA/+",
    "beginnings of tokens": "".join(sorted({each.literal for each in FORMATS})),
    "sk-": "sk-",
    "eyJ": "eyJ",
    "eyJ.": "eyJhbGciOiJI.",
    "xoxb-1": "xoxb-1-",
    "dots": "SG.aaaaaaaaaaaaaaaaaaaaaa",
    "beginnings of keys": "-----BEGIN RSA PRIVATE KEY-----",
    "headers of keys": "\nAbc: -----BEGIN PRIVATE KEY-----",
    "ends of keys": "-----END RSA PRIVATE KEY-----",
    "ends of keys in lines": "AAAAAAAAAAAAAAAAAAAA\n-----END RSA PRIVATE KEY-----\n",
    "keys of PuTTY": "PuTTY-User-Key-File-2: Private-Lines: 3\n",
    "urls": "://a:",
    "urls with @": "://a:b@",
    "one url": "https://x?a&token=",
    "names": "password",
    "assignments": "password=",
    "capitals": "TOKEN=",
    "long values": "password=xxxxxxxxxx",
    "quotes": 'API_TOKEN="',
    "escapes": 'TOKEN=\\"\\\\',
    "flags": "--token ",
    "headers": "Authorization: Bearer ",
    "x-": "x-",
    "x-a-": "x-aaaaaaaaaaaaaaa-",
    "connection strings": "Server=a;Password=b;",
    "halves of connection strings": "pwd=a;",
    "curl": "curl -u a:b ",
    "curl without end": " -u aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "jdbc": "jdbc:oracle:thin:a/",
    "aws": "aws_secret_access_key ",
    "digits": "1234567890:A",
    "MNO": "MNO.",
    "masks": "[masked]",
}


def main() -> None:
    """Print seconds per megabyte, and the ratios for twice and four times the text."""
    print(f"{'masking secrets':32} s/MB   x2    x4")
    for name, part in TEXTS.items():
        texts = {factor: part * (factor * SIZE // len(part)) for factor in (1, 2, 4)}
        times = min_cpu_seconds(
            {str(f): partial(mask_secrets, text) for f, text in texts.items()}, 3
        )
        one, two, four = (times[str(factor)] for factor in (1, 2, 4))
        print(f"{name:32} {four / (4 * SIZE) * 1e6:5.2f} {two / one:5.1f} {four / one:5.1f}")


if __name__ == "__main__":
    main()
