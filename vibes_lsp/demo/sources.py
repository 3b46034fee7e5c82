"""The source files, as the AI tools wrote them, and the changes that people make."""

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
    """Return whether there were too many attempts."""
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


def remove_function(mail: str) -> str:
    """Return the mail module without its last function."""
    return mail.partition("\n\ndef expired")[0]


def insert_block(auth: str) -> str:
    """Return the auth module with a block above the AI lines."""
    note = (
        '"""Sign-up and sign-in.\n\nOwned by the accounts team. '
        'Every change here needs a second pair of eyes.\n"""\n\n# Reviewed every quarter.\n'
    )
    return auth.replace('"""Sign-up and sign-in."""\n', note)


def edit_line(auth: str) -> str:
    """Return the auth module with one AI line changed."""
    return auth.replace(
        "    digest = hashlib.sha256((salt + password).encode()).hexdigest()\n",
        "    digest = slow_digest(salt, password)\n",
    )


def move_function(limits: str) -> str:
    """Return the limits module with a function moved to its end."""
    head, function, tail = limits.partition(
        "def recent(times: list[float], now: float) -> list[float]:\n"
    )
    body, remainder = tail.split("\n\n\n", 1)
    return f"{head}{remainder}\n\n{function}{body}\n"
