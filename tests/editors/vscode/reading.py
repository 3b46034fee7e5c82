"""JavaScript functions that read the page of VS Code. Each takes the root of an editor."""

from __future__ import annotations

from typing import Final

LENSES: Final = """root => {
    const numbers = [...root.querySelectorAll('.margin-view-overlays > div')];
    return [...root.querySelectorAll('.contentWidgets .codelens-decoration, .codelens-decoration')].map(lens => {
        const bottom = lens.getBoundingClientRect().bottom;
        const below = numbers
            .map(row => ({ y: row.getBoundingClientRect().top, n: row.querySelector('.line-numbers')?.textContent }))
            .filter(row => row.n && row.y >= bottom - 4).sort((a, b) => a.y - b.y)[0];
        return { line: below ? parseInt(below.n) : 0, text: lens.textContent };
    });
}"""
"""The lenses, each with the number of the line below it."""
MARKS: Final = """root => {
    const rows = [...root.querySelectorAll('.margin-view-overlays > div')]
        .map(row => ({ y: row.getBoundingClientRect().top, n: row.querySelector('.line-numbers')?.textContent }));
    const found = {};
    for (const mark of root.querySelectorAll('.glyph-margin-widgets .cgmr')) {
        const picture = getComputedStyle(mark).backgroundImage;
        if (!picture.includes('svg')) continue;
        const row = rows.find(each => Math.abs(each.y - mark.getBoundingClientRect().top) < 3);
        if (row?.n) found[parseInt(row.n)] = picture;
    }
    return found;
}"""
"""The image URL of each visible line with one of our marks."""
PAINTED: Final = """(root, line) => {
    const rows = [...root.querySelectorAll('.margin-view-overlays > div')];
    const row = rows.find(each => each.querySelector('.line-numbers')?.textContent == line);
    if (!row) return '';
    const y = row.getBoundingClientRect().top;
    const text = [...root.querySelectorAll('.view-line')].find(each => Math.abs(each.getBoundingClientRect().top - y) < 3);
    if (!text) return '';
    const after = [...text.querySelectorAll('[class*=ced-]')].map(each => getComputedStyle(each, '::after').content).join('');
    return text.textContent + ' ' + after;
}"""
"""The rendered text of a line, with line-end text."""
