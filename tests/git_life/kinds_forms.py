"""Kinds of histories in repositories of another form: folders, names, ends of lines, hashes."""

from __future__ import annotations

from typing import Final

from tests.git_life.combining import merge, rebase
from tests.git_life.history import Form
from tests.git_life.kinds_branches import both_sides, work_on
from tests.git_life.life import FORMS, KINDS, Life

_FORMS: Final = {
    "crlf": Form(line_end="\r\n"),
    "unterminated": Form(is_terminated=False),
    "project_in_folder": Form(folder="app/"),
    "odd_names": Form(name="\N{LATIN SMALL LETTER U WITH DIAERESIS} {letter}\t[1].{extension}"),
    "sha256": Form(object_format="sha256"),
}


def _everything(life: Life) -> None:
    """Branches are rebased and merged, a file is made and another one renamed."""
    work = life.work
    both_sides(life, commits=2)
    rebase(work, "main")
    work.ai(life.history.path("new"))
    work.rename(work.a_file(), life.history.path("renamed"))
    life.commit()
    work.switch("main")
    work_on(life)
    merge(work, "topic")
    work.ai_somewhere()
    work.person_somewhere()
    life.look()
    life.commit()


for _name, _form in _FORMS.items():
    FORMS[_name] = _form
    KINDS[_name] = _everything
