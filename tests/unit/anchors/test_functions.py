"""Functions by name, in each language with a grammar: their lines, with decorators."""

from __future__ import annotations

import pytest

from tests.unit.anchors.sources import SOURCES
from vibes_lsp.anchors.create_anchors import range_hash
from vibes_lsp.anchors.functions import find_function, locate_function
from vibes_lsp.anchors.location import Method, State
from vibes_lsp.anchors.text import Text

UNIQUE = [
    ("cart.py", "Cart", 4, 28),
    ("cart.py", "Cart.add", 6, 9),
    ("cart.py", "Cart#add", 6, 9),
    ("cart.py", "src.cart.Cart.add", 6, 9),
    ("cart.py", "Cart.total.rounded", 23, 24),
    ("cart.py", "Cart.total.<locals>.rounded", 23, 24),
    ("cart.py", "rounded", 23, 24),
    ("cart.py", "parse", 37, 38),
    ("cart.py", "load", 41, 42),
    ("view.js", "format", 1, 3),
    ("view.js", "double", 4, 4),
    ("view.js", "Counter", 6, 11),
    ("view.js", "Counter.step", 7, 7),
    ("view.js", "Counter.secret", 8, 8),
    ("view.js", "Counter.#secret", 8, 8),
    ("view.js", "api.get", 14, 16),
    ("view.js", "api.post", 17, 17),
    ("view.js", "nested.put", 19, 19),
    ("view.js", "List.prototype.each", 23, 23),
    ("view.js", "module.exports.close", 24, 26),
    ("view.js", "Panel", 27, 29),
    ("store.ts", "Shape", 1, 3),
    ("store.ts", "Store", 5, 12),
    ("store.ts", "Store.find", 7, 10),
    ("store.ts", "Store.reset", 11, 11),
    ("store.ts", "Geometry.area", 14, 14),
    ("store.ts", "pick", 18, 20),
    ("panel.tsx", "Panel", 1, 3),
    ("server.go", "Server", 3, 5),
    ("server.go", "(*Server).Handle", 7, 9),
    ("server.go", "Server.Handle", 7, 9),
    ("server.go", "web.New", 11, 11),
    ("server.go", "Stack.Push", 13, 13),
    ("server.go", "(s *Stack[T]) Push", 13, 13),
    ("server.go", "onExit", 15, 15),
    ("shape.rs", "Circle", 1, 4),
    ("shape.rs", "Circle::area", 7, 11),
    ("shape.rs", "Shape::area", 15, 15),
    ("shape.rs", "<Circle as Display>::fmt", 19, 21),
    ("shape.rs", "Display::fmt", 19, 21),
    ("shape.rs", "tests::grows", 25, 26),
    ("Bank.java", "Bank", 3, 17),
    ("Bank.java", "Bank.Account.close", 14, 15),
    ("Bank.java", "com.example.Bank.Account.close", 14, 15),
    ("Bank.java", "Bank.Bank", 4, 4),
    ("Bank.java", "Bank.<init>", 4, 4),
    ("list.c", "push", 8, 11),
    ("list.c", "peek", 6, 6),
    ("list.c", "node", 1, 4),
    ("list.c", "Pair", 12, 12),
    ("shape.cpp", "geo::Shape::area", 11, 13),
    ("shape.cpp", "Shape::area", 11, 13),
    ("shape.cpp", "geo::largest", 15, 16),
    ("shape.cpp", "Shape::operator==", 5, 5),
    ("shape.cpp", "Shape::~Shape", 4, 4),
    ("shape.cpp", "geo::Shape", 2, 8),
    ("Queue.cs", "Queue", 3, 9),
    ("Queue.cs", "Work.Queue.Count", 7, 7),
    ("Queue.cs", "Queue.Count", 7, 7),
    ("user.rb", "User#valid?", 3, 5),
    ("user.rb", "Shop::User.find", 6, 7),
    ("user.rb", "User#name=", 8, 8),
    ("user.rb", "User#[]", 9, 9),
    ("user.rb", "secret", 10, 11),
    ("Mail.php", "Mail::send", 4, 5),
    ("Mail.php", "App\\Mail::send", 4, 5),
    ("Mail.php", "helper", 7, 7),
    ("Mail.php", "$hook", 8, 8),
    ("deploy.sh", "build", 2, 4),
    ("deploy.sh", "clean-up", 5, 5),
]


@pytest.mark.parametrize(
    ("path", "name", "start", "end"), UNIQUE, ids=[f"{path}-{name}" for path, name, _, _ in UNIQUE]
)
def test_a_unique_name(path: str, name: str, start: int, end: int) -> None:
    located = locate_function(Text(SOURCES[path]), f"src/{path}", name, None)
    assert (located.start, located.end, located.ambiguous, located.confidence) == (
        start,
        end,
        False,
        0.8,
    )
    assert (located.state, located.method) == (State.UNVERIFIED, Method.NAME)


def test_the_hash_of_a_function_distinguishes_exact_from_edited() -> None:
    text = Text(SOURCES["cart.py"])
    digest = range_hash(text.lines[5:9])
    written = locate_function(text, "cart.py", "Cart.add", None, digest)
    assert (written.start, written.end, written.state, written.method, written.intact) == (
        6,
        9,
        State.EXACT,
        Method.ANCHOR_HASH,
        4,
    )
    assert written.sure
    edited = locate_function(
        Text(SOURCES["cart.py"].replace(text.lines[8], "        pass")),
        "cart.py",
        "Cart.add",
        None,
        digest,
    )
    assert (edited.start, edited.end, edited.state, edited.method, edited.intact) == (
        6,
        9,
        State.EDITED,
        Method.NAME,
        None,
    )
    lines = [*text.lines[:4], *text.lines[5:9], "", *text.lines[5:9]]
    assert locate_function(Text("\n".join(lines)), "cart.py", "add", None, digest).ambiguous


SIGNED = [
    ("cart.py", "price", "def price(self) -> int:", 10, 12),
    ("cart.py", "price", "(self, value)", 14, 16),
    ("cart.py", "price", "price(value: int)", 14, 16),
    ("cart.py", "parse", "parse(text: str) -> int", 30, 32),
    ("view.js", "double", "(x) => x * 2", 4, 4),
    ("store.ts", "pick", "pick(index: number): string", 16, 16),
    ("store.ts", "pick", "function pick(value: any): any {", 18, 20),
    ("server.go", "Handle", "func (s *Server) Handle(w Writer, r *Request) error", 7, 9),
    ("shape.rs", "area", "fn area(&self, scale: f64) -> f64", 7, 11),
    ("Bank.java", "Bank.pay", "pay(int amount)", 6, 6),
    ("Bank.java", "pay", "void pay(int, String)", 8, 8),
    ("Bank.java", "pay", "public  void pay( long amount )", 7, 7),
    ("Bank.java", "pay", "pay(amount, note)", 8, 8),
    ("Bank.java", "Bank", "Bank()", 4, 4),
    ("list.c", "push", "void push(struct node **head, int value)", 8, 11),
    ("shape.cpp", "area", "double area(double scale) const", 11, 13),
    ("shape.cpp", "area", "area(int)", 7, 7),
    ("Queue.cs", "Pop", "Pop(int count)", 8, 8),
    ("Mail.php", "Mail::send", "send(string $to, array $options = [])", 4, 5),
    ("user.rb", "valid?", "def valid?(strict: false)", 3, 5),
]


@pytest.mark.parametrize(
    ("path", "name", "signature", "start", "end"),
    SIGNED,
    ids=[f"{each[0]}-{each[2]}" for each in SIGNED],
)
def test_a_signature_distinguishes_overloads(
    path: str, name: str, signature: str, start: int, end: int
) -> None:
    located = locate_function(Text(SOURCES[path]), path, name, signature)
    assert (located.start, located.end, located.ambiguous, located.confidence) == (
        start,
        end,
        False,
        0.9,
    )


AMBIGUOUS = [
    ("cart.py", "price", None, 10),
    ("cart.py", "close", None, 45),
    ("Bank.java", "pay", None, 6),
    ("Bank.java", "pay", "pay(char[] other, int more)", 6),
    ("cart.py", "Ledger.load", None, 41),
]


@pytest.mark.parametrize(("path", "name", "signature", "start"), AMBIGUOUS)
def test_several_matches_are_ambiguous(
    path: str, name: str, signature: str | None, start: int
) -> None:
    located = locate_function(Text(SOURCES[path]), path, name, signature)
    assert (located.start, located.ambiguous, located.confidence) == (start, True, 0.3)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("cart.py", "gone"),
        ("cart.py", "Ledger.total"),
        ("cart.py", ""),
        ("cart.py", "..."),
        ("cart.py", "documented"),
        ("view.js", "quoted"),
    ],
)
def test_a_missing_function_is_lost(path: str, name: str) -> None:
    located = locate_function(Text(SOURCES[path]), path, name, None)
    assert (located.state, located.start, located.end, located.confidence) == (
        State.LOST,
        None,
        None,
        0.0,
    )


def test_a_changed_signature_is_reported_with_less_confidence() -> None:
    place = find_function(
        Text(SOURCES["cart.py"]), "cart.py", "Cart.add", "add(self, everything, else_)"
    )
    assert place is not None
    assert (place.start, place.ambiguous, place.by_parser, place.signature_matches) == (
        6,
        False,
        True,
        False,
    )
    assert (
        locate_function(
            Text(SOURCES["cart.py"]), "cart.py", "Cart.add", "add(self, everything, else_)"
        ).confidence
        == 0.8
    )
