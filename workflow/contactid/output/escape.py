"""Text from users, as it is, in other languages: a function each. HTML's is the templates' own.

Names of files, datasets, bodies and recordings, licences, and reasons that repeat what is in a file
may hold anything.
"""

from __future__ import annotations

import re

_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
}  # fmt: skip
# spreadsheets take a cell that begins with one of these for a formula
_FORMULAS = ("=", "+", "-", "@")
# an underscore between letters or digits emphasizes nothing
_MARKED = re.compile(r"[\\`*\[\]<>|~$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|://|@|!(?=\[)")
# what begins a list, a heading, a rule or an underline, where it begins a line
_BLOCK = re.compile(r"([-+]|#{1,6}|\d{1,9}[.)])(?=\s|$)|-(?=--)|=+$")


def one_line(text: object) -> str:
    """The text with spaces for line ends, and question marks for what can't be printed."""
    line = re.sub(r"\s", " ", str(text))
    return "".join(sign if sign.isprintable() else "?" for sign in line)


def spreadsheet(text: str) -> str:
    """For a spreadsheet's cell: what it would take for a formula begins with an apostrophe.

    >>> [spreadsheet(text) for text in ("=1+1", "-1.5", "+2e-3", "@SUM(A1)", "a=b")]
    ["'=1+1", '-1.5', '+2e-3', "'@SUM(A1)", 'a=b']
    """
    # some programs drop space and tabs before they look
    if not text.lstrip().startswith(_FORMULAS):
        return text
    # a number may begin with a sign, and stays one
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def mathtext(text: object) -> str:
    r"""For Matplotlib, beside math of ours or alone: a dollar sign is one.

    >>> mathtext("cost $5 or $6")
    'cost \\$5 or \\$6'
    """
    return one_line(text).replace("$", r"\$")


def tex(text: object) -> str:
    r"""For LaTeX's text.

    >>> tex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_TEX.get(sign, sign) for sign in one_line(text))


def markdown(text: object) -> str:
    r"""For a paragraph, a list's item or a table's cell in Markdown; plain words stay as they are.

    >>> markdown("throw_1 |*new*|")
    'throw_1 \\|\\*new\\*\\|'
    """
    line = _MARKED.sub(lambda mark: "\\" + mark[0], one_line(text).strip())
    block = _BLOCK.match(line)
    if not block:
        return line
    # the last sign of a mark is escaped: of "1." the point, as a digit can't be
    last = block.end() - 1
    return f"{line[:last]}\\{line[last:]}"
