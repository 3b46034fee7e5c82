"""A mapping that grows without being copied: what was read before stays as it was for whoever has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from typing_extensions import override

_V = TypeVar("_V")


class Layers(Mapping[str, _V], Generic[_V]):
    """Items in the order in which they were added; a layer is merged into the one below once it is half as large."""

    __slots__ = ("_layers",)

    def __init__(self, *layers: dict[str, _V]) -> None:
        self._layers = layers

    def plus(self, items: Mapping[str, _V]) -> Layers[_V]:
        """Return this with more items; of those with a key that is here, the first stays."""
        new = {key: value for key, value in items.items() if key not in self}
        if not new:
            return self
        layers = [*self._layers, new]
        while len(layers) > 1 and 2 * len(layers[-1]) >= len(layers[-2]):
            top = layers.pop()
            layers[-1] = {**layers[-1], **top}
        return Layers(*layers)

    @override
    def __getitem__(self, key: str) -> _V:
        for layer in self._layers:
            if key in layer:
                return layer[key]
        raise KeyError(key)

    @override
    def __contains__(self, key: object) -> bool:
        return any(key in layer for layer in self._layers)

    @override
    def __iter__(self) -> Iterator[str]:
        for layer in self._layers:
            yield from layer

    @override
    def __len__(self) -> int:
        return sum(map(len, self._layers))
