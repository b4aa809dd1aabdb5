"""Text in spans, which a layout sets without reading marks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from markupsafe import escape

from contactid.review.report.quotes import EMPHASIS

#: Plain text, or a kind with spans in it.
Span = str | dict[str, Any]
_KINDS = {"i": "emph", "em": "emph", "sub": "sub", "sup": "sup"}
_INDEXED = re.compile(r"\b([A-Za-zμη])_([A-Za-z0-9]+)")
_EXPONENT = re.compile(r"(-?[\d.]+)e([+-]\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_CODE = re.compile(r"(`[^`]+`)")


def number(text: str) -> str:
    """A number as Python writes it, as it is printed.

    >>> [number(text) for text in ("-0.5", "1e+08", "inf")]
    ['\N{MINUS SIGN}0.5', '1 · 10⁸', '∞']
    """
    parts = _EXPONENT.fullmatch(text)
    if parts:
        digits, exponent = parts.groups()
        # "+08" is 8
        power = str(int(exponent)).translate(_RAISED)
        return f"{number(digits)} · 10{power}"
    return text.replace("inf", "∞").replace("-", "\N{MINUS SIGN}")


def of_text(text: str, links: Mapping[str, str] | None = None) -> list[Span]:
    """A text of ours: code between backticks, emphasis between asterisks, indices as in ``e_N``.

    Parameters
    ----------
    links : where words such as ``Figure 12`` lead, by these words

    >>> of_text("so e_N")
    ['so ', {'kind': 'emph', 'body': ['e']}, {'kind': 'sub', 'body': ['N']}]
    """
    spans: list[Span] = []
    # a split by a group has what the group matched at its odd places
    for k, part in enumerate(_CODE.split(text)):
        if k % 2:
            spans.append({"kind": "code", "body": [part.strip("`")]})
        else:
            marked = _INDEXED.sub(r"<i>\1</i><sub>\2</sub>", str(escape(part)))
            spans += of_markup(EMPHASIS.sub(r"<em>\1</em>", marked))
    return _linked(spans, links) if links else spans


def _linked(spans: list[Span], links: Mapping[str, str]) -> list[Span]:
    # the longest first: "Figure 12" isn't "Figure 1"
    names = "|".join(map(re.escape, sorted(links, key=len, reverse=True)))
    pattern = re.compile(rf"\b({names})\b", re.IGNORECASE)
    targets = {words.lower(): target for words, target in links.items()}
    linked: list[Span] = []
    for span in spans:
        if not isinstance(span, str):
            linked.append(span)
            continue
        # names at odd places, and what is between them
        for place, part in enumerate(pattern.split(span)):
            if place % 2:
                linked.append({"kind": "link", "to": targets[part.lower()], "body": [part]})
            elif part:
                linked.append(part)
    return linked


def of_markup(markup: str) -> list[Span]:
    """Text with the elements ``i``, ``em``, ``sub`` and ``sup`` of HTML."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.spans


class _Reader(HTMLParser):
    """Collects spans; an element of another name is an error of ours."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.spans: list[Span] = []
        self._open: list[list[Span]] = [self.spans]

    def handle_starttag(self, tag: str, attrs: object) -> None:
        body: list[Span] = []
        self._open[-1].append({"kind": _KINDS[tag], "body": body})
        self._open.append(body)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].append(data)
