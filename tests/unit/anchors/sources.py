"""Small files in many languages; the tests of functions name their lines."""

from __future__ import annotations

SOURCES = {
    "cart.py": '''"""def documented(): pass"""
from functools import cache

@dataclass
class Cart:
    @traced
    @cache
    def add(self, item: str, count: int = 1) -> None:
        self.items.append((item, count))
    @property
    def price(self) -> int:
        return self._price
    # the setter shares the name
    @price.setter
    def price(self, value: int) -> None:
        self._price = value

    async def total(
        self,
        rate: float,
    ) -> float:
        """def documented(): pass"""
        def rounded(value):
            return round(value, 2)
        text = """
def documented():
"""
        return rounded(self._price * rate)

@overload
def parse(text: str) -> int:
    ...
@overload
def parse(text: bytes) -> bytes:
    ...

def parse(text):
    return int(text)


def load(path):
    return path

class A:
    def close(self): ...
class B:
    def close(self): ...
''',
    "view.js": """export function format(value) {
  return `${value}`;
}
const double = (x) => x * 2;

export default class Counter extends Base {
  step = () => { this.count += 1; };
  #secret(a) { return a; }
  static of(n) { return new Counter(n); }
  get value() { return this.count; }
}

export const api = {
  async get(url) {
    return fetch(url);
  },
  post: (url, body) => fetch(url, { body }),
  nested: {
    'put': function (url) { return url; },
  },
};
const text = `
function quoted() {}`; List.prototype.each = function (f) { f(this); };
module.exports.close = () => {
  api.get('/close');
};
export const Panel = React.memo(({ title, children }) => {
  return <div>{children}</div>;
});
""",
    "store.ts": """export interface Shape {
  area(scale: number): number;
}

@Injectable({ scope: 'root' })
export class Store<T extends Shape> {
  @Get(':id')
  // by its number
  @Cached()
  find(id: number, strict?: boolean): T { return this.items[id]; }
  private reset = (): void => { this.items = []; };
}
namespace Geometry {
  export function area(a: number): number { return a * a; }
}
export function pick(index: number): string;
export function pick(name: string): string;
export function pick(value: any): any {
  return value;
}
""",
    "panel.tsx": """export const Panel: React.FC<Props> = ({ title }) => {
  return <h1 className="wide">{title}</h1>;
};
""",
    "server.go": """package web

type Server struct {
	routes map[string]Handler
}

func (s *Server) Handle(w Writer, r *Request) error {
	return s.routes[r.Path].Serve(w, r)
}

func New() *Server { return &Server{} }

func (s *Stack[T]) Push(value T) { s.items = append(s.items, value) }

var onExit = func(code int) { os.Exit(code) }
""",
    "shape.rs": """#[derive(Debug)]
pub struct Circle {
    radius: f64,
}

impl<'a> Circle<'a> {
    #[inline]
    /// The area.
    pub fn area(&self, scale: f64) -> f64 {
        self.radius * self.radius * scale
    }
}

trait Shape {
    fn area(&self) -> f64;
}

impl std::fmt::Display for Circle {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.radius)
    }
}

mod tests {
    #[test]
    fn grows() { assert!(true); }
}
""",
    "Bank.java": """package com.example;

public class Bank {
    public Bank() { this(0); }

    public void pay(int amount) { pay((long) amount); }
    public void pay(long amount) { total += amount; }
    public void pay(int amount, String note) { log(note); }

    static class Account {
        void open() {
            total = 0;
        }
        @Override
        public void close() { total = 0; }
    }
}
""",
    "list.c": """struct node {
    int value;
    struct node *next;
};
void push(struct node **head, int value);
struct node *peek(struct node *head);

void push(struct node **head, int value)
{
    struct node *fresh = make(value);
}
typedef struct { int left, right; } Pair;
""",
    "shape.cpp": """namespace geo {
class Shape {
public:
    virtual ~Shape() = default;
    bool operator==(const Shape &other) const { return this == &other; }
    double area(double scale) const;
    double area(int scale) const;
};
}

double geo::Shape::area(double scale) const {
    return scale;
}
namespace geo {
template <typename T>
T largest(const std::vector<T> &values) { return values[0]; }
}
""",
    "Queue.cs": """namespace Work;

public class Queue
{
    [Obsolete]
    public int Pop() { return Pop(1); }
    public int Count => items.Count;
    public int Pop(int count) { return items[count]; }
}
""",
    "user.rb": """module Shop
  class User
    def valid?(strict: false)
      !name.nil?
    end
    def self.find(id)
    end
    def name=(value); @name = value; end
    def [](key); end
    private def secret
    end
  end
end
""",
    "Mail.php": """<?php
namespace App;
class Mail {
    #[Queued]
    public function send(string $to, array $options = []): bool { return true; }
}
function helper($a) { return $a; }
$hook = function ($event) { return $event; };
""",
    "deploy.sh": """#!/bin/sh
build() {
  make all
}
function clean-up { rm -rf out; }
""",
}
