"""LaTeX of a table: its float with booktabs, and texts and numbers as they stand in its cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from contactid.output.escape import tex
from contactid.output.grids import Heading

# columns that fit into one of two columns of a page
_NARROW = 5
_GREEK = {"μ": r"\mu", "η": r"\eta"}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
#: The cells of one of a table's lines.
Line = Sequence[str]


def table_float(
    alignments: Sequence[str],
    heads: Sequence[Sequence[Heading]],
    blocks: Sequence[Sequence[Line]],
    caption: str,
    again: bool = False,
) -> str:
    """A table of lines of headings and blocks of lines, with a little space below each block.

    ``alignments`` are the columns'; ``again`` goes on with the table before.
    """
    lines = [rf"\begin{{tabular}}{{@{{}}{''.join(alignments)}@{{}}}}", r"\toprule"]
    for level in heads:
        cells, rules = [], []
        last = 0
        for text, span in level:
            first, last = last + 1, last + span
            # one heading over several columns has a rule below it
            if span > 1:
                text = rf"\multicolumn{{{span}}}{{c}}{{{text}}}"
                rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
            cells.append(text)
        lines += [_line(cells), *rules]
    lines.append(r"\midrule")
    for block in blocks:
        lines += [_line(line) for line in block]
        lines[-1] += "[2pt]"
    lines += [r"\bottomrule", r"\end{tabular}"]
    environment = "table" if len(alignments) <= _NARROW else "table*"
    style = r"\centering\footnotesize\setlength{\tabcolsep}{3pt}\setlength{\belowcaptionskip}{4pt}"
    # the second half of a table has the first one's number
    number = [r"\addtocounter{table}{-1}"] if again else []
    whole = [
        rf"\begin{{{environment}}}",
        style,
        *number,
        rf"\caption{{{caption}}}",
        *lines,
        rf"\end{{{environment}}}",
        "",
    ]
    return "\n".join(whole)


def _line(cells: Iterable[str]) -> str:
    line = " & ".join(cells) + r" \\"
    # what ends the line before would take these for its own
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def joined(numbers: Sequence[str]) -> str:
    """A mean and its deviation, or one number, within math."""
    return r" \pm ".join(map(in_math, numbers))


def in_math(text: str) -> str:
    """A number's text within math.

    >>> [in_math(text) for text in ("-0.5", "1e+08", "inf")]
    ['-0.5', '1 \\\\times 10^{8}', '\\\\infty']
    """
    number, _, exponent = text.replace("inf", r"\infty").partition("e")
    return rf"{number} \times 10^{{{int(exponent)}}}" if exponent else number


def pretty(text: str) -> str:
    r"""A heading or a label, its indices and exponents in math.

    >>> [pretty(text) for text in ("I_xx (kg mm²)", "v_z⁺ map", "μ", "50 %")]
    ['$I_{\\mathrm{xx}}$ (kg mm$^{2}$)', '$v_{\\mathrm{z}}^{+}$ map', '$\\mu$', '50 \\%']
    """
    indexed = re.sub(r"([A-Za-zμη]+)\\_([A-Za-z0-9]+)([⁻⁺]?)", _indexed, tex(text))
    power = r"\\textasciicircum\{\}([A-Za-z0-9]|\([A-Za-z0-9+-]+\))"
    raised = re.sub(power, lambda match: f"$^{{{match[1].strip('()')}}}$", indexed)
    for sign, name in _GREEK.items():
        raised = raised.replace(sign, f"${name}$")
    return _raise(raised)


def _indexed(match: re.Match[str]) -> str:
    base, index, sign = match.groups()
    top = f"^{{{sign.translate(_RAISED)}}}" if sign else ""
    return f"${_GREEK.get(base, base)}_{{\\mathrm{{{index}}}}}{top}$"


def _raise(text: str) -> str:
    return re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+", lambda match: f"$^{{{match[0].translate(_RAISED)}}}$", text)


def caption_of(texts: Sequence[str]) -> str:
    """A caption of these parts, which may hold math without indices."""
    shown = " ".join(f"{text.rstrip('.')}." for text in texts if text)
    return _raise(re.sub(r"(?<!\\)([_%&])", r"\\\1", shown).replace("+-", r"$\pm$"))
