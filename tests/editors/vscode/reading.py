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
BLAME: Final = """root => {
    const rows = [...root.querySelectorAll('.margin-view-overlays > div')]
        .map(row => ({ y: row.getBoundingClientRect().top, n: row.querySelector('.line-numbers')?.textContent }));
    const found = {};
    for (const line of root.querySelectorAll('.view-line')) {
        const row = rows.find(each => Math.abs(each.y - line.getBoundingClientRect().top) < 3);
        const cell = [...line.querySelectorAll('[class*=ced-]')]
            .map(each => ({ each, style: getComputedStyle(each, '::before') }))
            .find(({ style }) => style.content !== 'none' && style.borderRightWidth == '3px');
        if (!row?.n || !cell) continue;
        const code = [...line.querySelectorAll('span > span')].find(each => each !== cell.each && /\\S/.test(each.textContent));
        found[parseInt(row.n)] = {
            text: JSON.parse(cell.style.content).replaceAll('\\u00a0', ' ').trimEnd(),
            colour: cell.style.borderRightColor,
            edge: cell.style.borderRightStyle,
            width: Math.round(parseFloat(cell.style.width)),
            height: Math.round(parseFloat(cell.style.height)),
            code: code ? Math.round(code.getBoundingClientRect().left) : null,
        };
    }
    return found;
}"""
"""The blame column beside each visible line: its text, its edge, and where the code begins."""
LINE_END: Final = """(root, line) => {
    const rows = [...root.querySelectorAll('.margin-view-overlays > div')];
    const row = rows.find(each => each.querySelector('.line-numbers')?.textContent == line);
    const y = row?.getBoundingClientRect().top;
    const text = [...root.querySelectorAll('.view-line')].find(each => Math.abs(each.getBoundingClientRect().top - y) < 3);
    const ends = [...(text?.querySelectorAll('[class*=ced-]') ?? [])].filter(each => getComputedStyle(each, '::after').content !== 'none');
    const box = ends.at(-1)?.getBoundingClientRect();
    return box ? { x: box.left, y: box.top + box.height / 2 } : null;
}"""
"""Where the text after a line's end begins."""
