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
# stand for braces that are printed
_OPEN, _CLOSE = "\x01", "\x02"
_ACCENTS = {"hat": "\u0302", "dot": "\u0307", "bar": "\u0304"}
_FORMULA = re.compile(r"\$\$?(.+?)\$\$?")
#: Markdown's, between asterisks; a product's isn't one.
EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")


def typeset(quote: str) -> Markup:
    """A quote with its formulas and emphasis set.

    >>> typeset(r"the *true* $c_n$ for $\\mu \\geq 0.4$ , as in $\\{1, 2\\}$")
    Markup('the <em>true</em> <i>c<sub>n</sub></i> for <i>μ ≥ 0.4</i>, as in <i>{1, 2}</i>')
    """
    text = _FORMULA.sub(lambda match: f"<i>{_formula(match[1])}</i>", str(escape(quote)))
    # no blank between a formula and what follows it
    text = re.sub(r"(?<=</i>) (?=[,.;)])|(?<=\() (?=<i>)", "", text)
    # as the papers' text has footnotes and units
    text = re.sub(r"&lt;(/?su[bp])&gt;", r"<\1>", text)
    # set by ourselves, of what was escaped before
    return Markup(EMPHASIS.sub(r"<em>\1</em>", text))


def _formula(tex: str) -> str:
    """A formula's symbols and indices; what isn't among them keeps its name."""
    tex = tex.replace(r"\{", _OPEN).replace(r"\}", _CLOSE)
    tex = re.sub(r"\\(?:left|right|rm|[ ,;!])(?![a-zA-Z])", " ", tex)
    before = ""
    # from the innermost braces outwards
    while tex != before:
        before = tex
        tex = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", tex)
        tex = re.sub(r"\\(?:mathbf|mathrm|boldsymbol|text|tag)\s*\{([^{}]*)\}", r"\1", tex)
        for name, accent in _ACCENTS.items():
            tex = re.sub(rf"\\{name}\s*\{{([^{{}}]*)\}}", rf"\1{accent}", tex)
        tex = re.sub(r"_\s*\{([^{}]*)\}", r"<sub>\1</sub>", tex)
        tex = re.sub(r"\^\s*\{([^{}]*)\}", r"<sup>\1</sup>", tex)
    tex = re.sub(r"_\s*(\w)", r"<sub>\1</sub>", tex)
    tex = re.sub(r"\^\s*(\w|[+*-])", r"<sup>\1</sup>", tex)
    tex = re.sub(r"\\([a-zA-Z]+)", lambda name: _SYMBOLS.get(name[1], name[1]), tex)
    tex = re.sub(r"[{}\\]", "", tex).replace(_OPEN, "{").replace(_CLOSE, "}")
    return " ".join(tex.split())
