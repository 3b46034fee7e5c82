"""The grammars for each language, and what counts as a definition in them.

Grammars are packages, loaded when a file needs one. A query captures what `outline` needs:

- @definition, or @scope for what only qualifies the names within it, with its @name; the @holder
  of its parameters and body if that is another node; the @owner that a receiver names
- an @inner node whose range is that of its @wrapper (`export`, decorators)
- an @attribute before a definition, outside of it
- the @package that a file declares
- @quiet text, in which nothing is defined
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language, Query

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language whose functions are located by syntax.

    Attributes:
        module: The package of the grammar.
        factory: The function in it that returns the grammar.
        query: What to capture.
    """

    module: str
    factory: str
    query: str


_PYTHON: Final = """
(function_definition name: (_) @name) @definition
(class_definition name: (_) @name) @definition
(decorated_definition definition: (_) @inner) @wrapper
(string) @quiet
"""

_JAVASCRIPT: Final = """
(function_declaration name: (_) @name) @definition
(generator_function_declaration name: (_) @name) @definition
(class_declaration name: (_) @name) @definition
(method_definition name: (_) @name) @definition
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function) (class)] @holder) @definition
(variable_declarator name: (identifier) @name
  value: (call_expression
    arguments: (arguments [(arrow_function) (function_expression)] @holder))) @definition
(variable_declarator name: (identifier) @name value: (object)) @scope
(assignment_expression left: [(identifier) (member_expression)] @name
  right: [(arrow_function) (function_expression) (generator_function) (class)] @holder) @definition
(assignment_expression left: [(identifier) (member_expression)] @name right: (object)) @scope
(pair key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)] @holder) @definition
(pair key: (_) @name value: (object)) @scope
(export_statement declaration: (_) @inner) @wrapper
(lexical_declaration . (variable_declarator) @inner .) @wrapper
(variable_declaration . (variable_declarator) @inner .) @wrapper
(expression_statement (assignment_expression) @inner) @wrapper
(decorator) @attribute
[(comment) (template_string)] @quiet
"""

_TYPESCRIPT: Final = (
    _JAVASCRIPT
    + """
(abstract_class_declaration name: (_) @name) @definition
(interface_declaration name: (_) @name) @definition
(type_alias_declaration name: (_) @name) @definition
(enum_declaration name: (_) @name) @definition
(function_signature name: (_) @name) @definition
(method_signature name: (_) @name) @definition
(abstract_method_signature name: (_) @name) @definition
(public_field_definition name: (_) @name
  value: [(arrow_function) (function_expression)] @holder) @definition
(internal_module name: (_) @name) @scope
(module name: (_) @name) @scope
(ambient_declaration (_) @inner) @wrapper
(expression_statement (internal_module) @inner) @wrapper
"""
)

_GO: Final = """
(function_declaration name: (_) @name) @definition
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (_) @name) @definition
(type_spec name: (_) @name) @definition
(type_alias name: (_) @name) @definition
(method_elem name: (_) @name) @definition
(var_spec name: (identifier) @name value: (expression_list . (func_literal) @holder .)) @definition
(short_var_declaration left: (expression_list . (identifier) @name .)
  right: (expression_list . (func_literal) @holder .)) @definition
(type_declaration . [(type_spec) (type_alias)] @inner .) @wrapper
(var_declaration . (var_spec) @inner .) @wrapper
(package_clause (_) @package)
[(comment) (raw_string_literal)] @quiet
"""

_RUST: Final = """
(function_item name: (_) @name) @definition
(function_signature_item name: (_) @name) @definition
(struct_item name: (_) @name) @definition
(enum_item name: (_) @name) @definition
(union_item name: (_) @name) @definition
(trait_item name: (_) @name) @definition
(type_item name: (_) @name) @definition
(macro_definition name: (_) @name) @definition
(impl_item type: (_) @name) @scope
(mod_item name: (_) @name body: (_)) @scope
(let_declaration pattern: (identifier) @name value: (closure_expression) @holder) @definition
(attribute_item) @attribute
[(line_comment) (block_comment) (string_literal) (raw_string_literal)] @quiet
"""

_JAVA: Final = """
(method_declaration name: (_) @name) @definition
(constructor_declaration name: (_) @name) @definition
(compact_constructor_declaration name: (_) @name) @definition
(class_declaration name: (_) @name) @definition
(interface_declaration name: (_) @name) @definition
(enum_declaration name: (_) @name) @definition
(record_declaration name: (_) @name) @definition
(annotation_type_declaration name: (_) @name) @definition
(annotation_type_element_declaration name: (_) @name) @definition
(package_declaration (_) @package)
[(line_comment) (block_comment) (string_literal)] @quiet
"""

_C_DECLARED: Final = """
({kind} declarator: (function_declarator declarator: (_) @name) @holder) @definition
({kind} declarator: (_ (function_declarator declarator: (_) @name) @holder)) @definition
({kind} declarator: (_ (_ (function_declarator declarator: (_) @name) @holder))) @definition
"""

_C: Final = (
    "".join(_C_DECLARED.replace("{kind}", kind) for kind in ("function_definition", "declaration"))
    + """
(struct_specifier name: (_) @name body: (_)) @definition
(union_specifier name: (_) @name body: (_)) @definition
(enum_specifier name: (_) @name body: (_)) @definition
(type_definition type: [(struct_specifier body: (_)) (union_specifier body: (_))
  (enum_specifier body: (_))]
  declarator: (type_identifier) @name) @definition
(preproc_function_def name: (_) @name) @definition
[(comment) (string_literal)] @quiet
"""
)

_CPP: Final = (
    _C
    + _C_DECLARED.replace("{kind}", "field_declaration")
    + """
(function_definition declarator: (operator_cast) @name @holder) @definition
(class_specifier name: (_) @name body: (_)) @definition
(namespace_definition name: (_) @name) @scope
(concept_definition name: (_) @name) @definition
(alias_declaration name: (_) @name) @definition
(init_declarator declarator: (identifier) @name value: (lambda_expression) @holder) @definition
(declaration . (_) (init_declarator) @inner .) @wrapper
(template_declaration [(function_definition) (declaration) (class_specifier)
  (struct_specifier) (alias_declaration)
  (concept_definition) (template_declaration)] @inner) @wrapper
(raw_string_literal) @quiet
"""
)

_C_SHARP: Final = """
(method_declaration name: (_) @name) @definition
(constructor_declaration name: (_) @name) @definition
(destructor_declaration name: (_) @name) @definition
(property_declaration name: (_) @name) @definition
(local_function_statement name: (_) @name) @definition
(delegate_declaration name: (_) @name) @definition
(class_declaration name: (_) @name) @definition
(struct_declaration name: (_) @name) @definition
(interface_declaration name: (_) @name) @definition
(record_declaration name: (_) @name) @definition
(enum_declaration name: (_) @name) @definition
(namespace_declaration name: (_) @name) @scope
(file_scoped_namespace_declaration name: (_) @package)
[(comment) (verbatim_string_literal) (raw_string_literal) (interpolated_string_expression)] @quiet
"""

_RUBY: Final = """
(method name: (_) @name) @definition
(singleton_method name: (_) @name) @definition
(class name: (_) @name) @definition
(module name: (_) @name) @definition
(assignment left: (_) @name right: (lambda) @holder) @definition
(call method: (identifier)
  arguments: (argument_list . [(method) (singleton_method)] @inner .)) @wrapper
[(comment) (string) (heredoc_body)] @quiet
"""

_PHP: Final = """
(function_definition name: (_) @name) @definition
(method_declaration name: (_) @name) @definition
(class_declaration name: (_) @name) @definition
(interface_declaration name: (_) @name) @definition
(trait_declaration name: (_) @name) @definition
(enum_declaration name: (_) @name) @definition
(assignment_expression left: (variable_name) @name
  right: [(anonymous_function) (arrow_function)] @holder) @definition
(expression_statement (assignment_expression) @inner) @wrapper
(namespace_definition name: (_) @package)
[(comment) (string) (encapsed_string) (heredoc) (nowdoc) (text)] @quiet
"""

_BASH: Final = """
(function_definition name: (_) @name) @definition
[(comment) (string) (raw_string) (heredoc_body)] @quiet
"""

_GRAMMARS: Final = {
    "python": Grammar("tree_sitter_python", "language", _PYTHON),
    "javascript": Grammar(
        "tree_sitter_javascript",
        "language",
        _JAVASCRIPT + "(field_definition property: (_) @name\n"
        "  value: [(arrow_function) (function_expression)] @holder) @definition\n",
    ),
    "typescript": Grammar("tree_sitter_typescript", "language_typescript", _TYPESCRIPT),
    "tsx": Grammar("tree_sitter_typescript", "language_tsx", _TYPESCRIPT),
    "go": Grammar("tree_sitter_go", "language", _GO),
    "rust": Grammar("tree_sitter_rust", "language", _RUST),
    "java": Grammar("tree_sitter_java", "language", _JAVA),
    "c": Grammar("tree_sitter_c", "language", _C),
    "cpp": Grammar("tree_sitter_cpp", "language", _CPP),
    "csharp": Grammar("tree_sitter_c_sharp", "language", _C_SHARP),
    "ruby": Grammar("tree_sitter_ruby", "language", _RUBY),
    "php": Grammar("tree_sitter_php", "language_php", _PHP),
    "bash": Grammar("tree_sitter_bash", "language", _BASH),
}

_SUFFIXES: Final = {
    suffix: language
    for language, suffixes in {
        "python": ".py .pyi .pyw",
        "javascript": ".js .jsx .mjs .cjs",
        "typescript": ".ts .mts .cts",
        "tsx": ".tsx",
        "go": ".go",
        "rust": ".rs",
        "java": ".java",
        "c": ".c",
        "cpp": ".cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .ipp .tpp .inl",
        "csharp": ".cs",
        "ruby": ".rb .rake .gemspec .ru",
        "php": ".php .phtml",
        "bash": ".sh .bash",
    }.items()
    for suffix in suffixes.split()
}


def grammar_of(path: str) -> Grammar | None:
    """Return the grammar for a file name; None for languages without one."""
    language = _SUFFIXES.get(PurePosixPath(path).suffix.lower())
    return None if language is None else _GRAMMARS[language]


@cache
def load(grammar: Grammar) -> tuple[Language, Query] | None:
    """Return a grammar and its query; None where its package is missing or incompatible."""
    try:
        tree_sitter = import_module("tree_sitter")
        language = tree_sitter.Language(getattr(import_module(grammar.module), grammar.factory)())
        return language, tree_sitter.Query(language, grammar.query)
    except (ImportError, AttributeError, TypeError, ValueError, OSError) as error:
        _logger.info("functions are searched as text, without %s: %s", grammar.module, error)
        return None
