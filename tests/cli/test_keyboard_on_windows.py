"""Single keys on Windows, with a fake console; runs on every system."""

from __future__ import annotations

import importlib.util
import sys
from collections import deque
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from vibes_lsp.cli import keyboard

if TYPE_CHECKING:
    from collections.abc import Callable


class Console(ModuleType):
    """A fake `msvcrt` with typed keys."""

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.typed: deque[str] = deque()

    def kbhit(self) -> bool:
        return bool(self.typed)

    def getwch(self) -> str:
        return self.typed.popleft()


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return a function that answers a question with keys, and types others before it."""
    console = Console()
    spec = importlib.util.spec_from_file_location("keyboard_on_windows", keyboard.__file__)
    assert spec is not None
    assert spec.loader is not None
    there = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "msvcrt", console)
        patch.setattr(sys, "platform", "win32")
        spec.loader.exec_module(there)

    def pressed(keys: str, before: str = "") -> str:
        console.typed.extend(before)
        with there.key_reader() as read_key:
            console.typed.extend(keys)
            key: str = read_key()
        assert not console.typed, "a key is read whole"
        return key

    return pressed


@pytest.mark.parametrize(
    ("keys", "key"),
    [("a", "a"), ("?", "?"), ("\x00;", ""), ("\xe0H", ""), ("\r", "\r"), ("ä", "ä")],
)
def test_a_key_is_its_character_or_nothing(press: Callable[..., str], keys: str, key: str) -> None:
    assert press(keys) == key


def test_keys_typed_before_the_question_are_discarded(press: Callable[..., str]) -> None:
    assert press("s", before="aaa") == "s"


@pytest.mark.parametrize("key", ["\x04", "\x1a"])
def test_the_end_of_input_quits(press: Callable[..., str], key: str) -> None:
    with pytest.raises(EOFError):
        press(key)


def test_ctrl_c_interrupts(press: Callable[..., str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        press("\x03")
