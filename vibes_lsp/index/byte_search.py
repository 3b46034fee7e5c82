"""Search a buffer for lines that contain some bytes, with the C library's `memmem`.

It is two to three times as fast as `bytearray.find`, which takes its place where there is none: on
Windows, and where Python has no `ctypes`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

try:
    import ctypes
except ImportError:  # Python was built without it
    ctypes = None  # type: ignore[assignment]

_Memmem: TypeAlias = Callable[[int, int, bytes, int], int | None]


def _load_memmem() -> _Memmem | None:
    """Return the function of the C library, called with addresses and lengths."""
    if sys.platform == "win32" or ctypes is None:
        return None
    try:
        # A call that keeps the interpreter's lock takes half the time.
        function = ctypes.PyDLL(None).memmem
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    function.restype = ctypes.c_void_p
    return function


_MEMMEM: Final = _load_memmem()


class LineBuffer:
    """Bytes in which lines are searched for.

    Args:
        size: Their number; it never changes.

    Attributes:
        data: The bytes, zero at first.
        view: A view of them. While it exists, they cannot move in memory.
    """

    def __init__(self, size: int) -> None:
        self.data = bytearray(size)
        self.view = memoryview(self.data)
        self._address = 0
        if _MEMMEM is not None:
            self._address = ctypes.addressof(ctypes.c_char.from_buffer(self.data))

    def lines_with(
        self, needle: bytes, first: int, last: int, longest: int
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a part that contain some bytes, each once, with its offset.

        Args:
            needle: The bytes, without a line end.
            first: Where the first line begins.
            last: Where the last one ends, its line end included.
            longest: Longer lines are left out.
        """
        data, view = self.data, self.view
        place = self.find(needle, first, last)
        while place >= 0:
            begin = data.rfind(b"\n", first, place) + 1 or first
            end = data.find(b"\n", place, last)
            if end - begin <= longest:
                yield begin, bytes(view[begin:end])
            place = self.find(needle, end, last)

    def find(self, needle: bytes, first: int, last: int) -> int:
        """Return where some bytes begin in a part; -1 if they are not in it."""
        if _MEMMEM is None:
            return self.data.find(needle, first, last)
        if not 0 <= first <= last <= len(self.data):
            raise IndexError(f"{first}:{last} of {len(self.data)} bytes")
        found = _MEMMEM(self._address + first, last - first, needle, len(needle))
        return -1 if found is None else found - self._address
