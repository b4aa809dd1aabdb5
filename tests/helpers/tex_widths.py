"""How wide tabulars are, by upper bounds of Computer Modern's letters: tests have no LaTeX."""

import re

_WIDTHS = {
    "ijlt.,:;'|!()[] /": 0.1,
    "mwMW%": 0.24,
    "ABCDEFGHJKLNOPQRSTUVXYZ+-=<>": 0.21,
}  # cm, at \footnotesize
_OTHERS, _BETWEEN = 0.15, 0.22
_RAISED = re.compile(r"\^\{((?:[^{}]|\{[^{}]*\})*)\}")
_END = re.compile(r"\\\\(\[2pt\])?$")


def tabular_widths(text):
    """Of each tabular in a tex file, cm."""
    found = re.findall(r"\\begin\{tabular\}\{@\{\}([^\n]*)@\{\}\}\n(.*?)\\end", text, re.DOTALL)
    return [_tabular_width(*parts) for parts in found]


def _tabular_width(kinds, body):
    columns = re.findall(r"[lr]|p\{[\d.]+cm\}", kinds)
    widths, spanning = [0.0] * len(columns), []
    for line in filter(_END.search, body.splitlines()):
        place = 0
        for cell in re.split(r"(?<!\\)&", _END.sub("", line)):
            if over := re.fullmatch(r"\s*\\multicolumn\{(\d+)\}\{c\}\{(.*)\}\s*", cell):
                spanning.append((place, int(over[1]), _width(over[2])))
                place += int(over[1])
            else:
                widths[place] = max(widths[place], _width(cell.strip()))
                place += 1
        assert place == len(columns), line
    for place, kind in enumerate(columns):
        if kind[0] == "p":
            widths[place] = float(kind[2:-3])
    for place, span, width in spanning:
        own = sum(widths[place : place + span]) + (span - 1) * _BETWEEN
        widths[place + span - 1] += max(width - own, 0.0)
    return sum(widths) + len(columns) * _BETWEEN


def _width(text):
    if lines := re.fullmatch(r"\\shortstack\[.\]\{(.*)\}", text):
        return max(map(_width, lines[1].split(r" \\ ")))
    raised = sum(0.75 * _width(found[1]) for found in _RAISED.finditer(text))
    plain = re.sub(r"\\(textit|mathrm|infty|text[a-z]+)|[{}$_]", "", _RAISED.sub("", text))
    plain = re.sub(r"\\[a-z]+", "+", plain).replace("\\", "")
    return raised + sum(
        next((cm for signs, cm in _WIDTHS.items() if sign in signs), _OTHERS) for sign in plain
    )
