"""Quotes as HTML: what the papers' text has in TeX's and Markdown's marks, with symbols, indices
and emphasis.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_SYMBOLS = {
    "mu": "μ", "varepsilon": "ε", "pm": "±", "simeq": "≃", "omega": "ω", "leq": "≤", "le": "≤", "in": "∈", "cdot": "·",
    "to": "→", "phi": "φ", "neq": "≠", "ldots": "…", "int": "∫", "geq": "≥", "ge": "≥", "forall": "∀", "eta": "η",
    "delta": "δ", "circ": "°", "chi": "χ", "Gamma": "Γ", "Delta": "Δ", "sqrt": "√",
}  # fmt: skip
_OPEN, _CLOSE = "\x01", "\x02"  # stand for braces that are printed
_ACCENTS = {"hat": "\u0302", "dot": "\u0307", "bar": "\u0304"}
_FORMULA = re.compile(r"\$\$?(.+?)\$\$?")
_EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")


def typeset(quote: str) -> Markup:
    """A quote with its formulas and emphasis set.

    >>> typeset(r"the *true* $c_n$ for $\\mu \\geq 0.4$ , as in $\\{1, 2\\}$")
    Markup('the <em>true</em> <i>c<sub>n</sub></i> for <i>μ ≥ 0.4</i>, as in <i>{1, 2}</i>')
    """
    text = _FORMULA.sub(lambda found: f"<i>{_formula(found[1])}</i>", str(escape(quote)))
    text = re.sub(r"(?<=</i>) (?=[,.;)])|(?<=\() (?=<i>)", "", text)
    text = re.sub(
        r"&lt;(/?su[bp])&gt;", r"<\1>", text
    )  # as the papers' text has footnotes and units
    # set by ourselves, of what was escaped before
    return Markup(_EMPHASIS.sub(r"<em>\1</em>", text))


def _formula(tex: str) -> str:
    """A formula's symbols and indices; what isn't among them keeps its name."""
    tex = tex.replace(r"\{", _OPEN).replace(r"\}", _CLOSE)
    tex = re.sub(r"\\(?:left|right|rm|[ ,;!])(?![a-zA-Z])", " ", tex)
    before = ""
    while tex != before:  # from the innermost braces outwards
        before = tex
        tex = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", tex)
        tex = re.sub(r"\\(?:mathbf|mathrm|boldsymbol|text|tag)\s*\{([^{}]*)\}", r"\1", tex)
        tex = re.sub(
            r"\\(hat|dot|bar)\s*\{([^{}]*)\}", lambda found: found[2] + _ACCENTS[found[1]], tex
        )
        tex = re.sub(r"_\s*\{([^{}]*)\}", r"<sub>\1</sub>", tex)
        tex = re.sub(r"\^\s*\{([^{}]*)\}", r"<sup>\1</sup>", tex)
    tex = re.sub(r"_\s*(\w)", r"<sub>\1</sub>", tex)
    tex = re.sub(r"\^\s*(\w|[+*-])", r"<sup>\1</sup>", tex)
    tex = re.sub(r"\\([a-zA-Z]+)", lambda found: _SYMBOLS.get(found[1], found[1]), tex)
    tex = re.sub(r"[{}\\]", "", tex).replace(_OPEN, "{").replace(_CLOSE, "}")
    return " ".join(tex.split())
