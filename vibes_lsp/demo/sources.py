"""The source files, as the AI tools left them and as people changed them later."""

from __future__ import annotations

from typing import Final

AUTH: Final = '''"""Sign-up and sign-in."""

import hashlib
import re
import secrets


def valid_email(address: str) -> bool:
    """Say whether an address looks like one."""
    return re.fullmatch(r"[^@ ]+@[^@ ]+[.][^@ ]+", address) is not None


def strong(password: str) -> bool:
    """Say whether a password is long and mixed enough."""
    return len(password) >= 12 and password.lower() != password


def hash_password(password: str) -> str:
    """Return what is stored instead of a password."""
    salt = secrets.token_hex(16)
    digest = hashlib.sha256((salt + password).encode()).hexdigest()
    return f"{salt}:{digest}"
'''

LIMITS: Final = '''"""Limits on attempts."""

WINDOW = 3600
ATTEMPTS = 5


def recent(times: list[float], now: float) -> list[float]:
    """Return the attempts of the last hour."""
    return [time for time in times if now - time < WINDOW]


def exceeded(times: list[float], now: float) -> bool:
    """Say whether somebody has tried too often."""
    return len(recent(times, now)) >= ATTEMPTS
'''

APP: Final = """export interface Attempt {
  user: string;
  at: number;
}

export function latest(attempts: Attempt[]): Attempt | undefined {
  return attempts.reduce<Attempt | undefined>(
    (last, each) => (last === undefined || each.at > last.at ? each : last),
    undefined,
  );
}
"""


CHECKS: Final = '''"""The checks of a password."""

from src.auth import strong


def test_a_long_and_mixed_password_is_strong() -> None:
    assert strong("correct Horse battery")


def test_a_short_one_is_not() -> None:
    assert not strong("Horse")
'''

MAIL_TYPED: Final = '"""Mail that confirms an address."""\n\n\ndef conf'

MAIL_COMPLETED: Final = '''def confirmation(address: str, code: str) -> str:
    """Return the text of the mail."""
    return f"Hello {address}, your code is {code}."
'''

MAIL: Final = '''"""Mail that confirms an address."""


def confirmation(address: str, code: str) -> str:
    """Return the text of the mail."""
    return f"Hello {address}, your code is {code}."


def expired(sent: float, now: float) -> bool:
    """Say whether a code is too old."""
    return now - sent > 900
'''


def shortened(mail: str) -> str:
    """A person takes a function out."""
    return mail.partition("\n\ndef expired")[0]


def inserted(auth: str) -> str:
    """A person puts a block above everything that the AI wrote."""
    note = '"""Sign-up and sign-in.\n\nOwned by the accounts team. Every change here needs a second pair of eyes.\n"""\n\n# Reviewed every quarter.\n'
    return auth.replace('"""Sign-up and sign-in."""\n', note)


def edited(auth: str) -> str:
    """A person changes one line inside what the AI wrote."""
    return auth.replace(
        "    digest = hashlib.sha256((salt + password).encode()).hexdigest()\n",
        "    digest = slow_digest(salt, password)\n",
    )


def moved(limits: str) -> str:
    """A person moves a function to the end of the file."""
    head, function, tail = limits.partition(
        "def recent(times: list[float], now: float) -> list[float]:\n"
    )
    body, rest = tail.split("\n\n\n", 1)
    return f"{head}{rest}\n\n{function}{body}\n"
