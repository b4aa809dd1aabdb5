"""What a table or figure is: one declaration, from which its files, caption and labels follow.

A study declares its artefacts in ``contactid/<study>/artefacts/__init__.py``, a light module: the
Snakefile reads it, and nothing that computes does. So a caption's edit reruns the job that writes
the caption, and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal

Kind = Literal["table", "figure", "animation"]
_FOLDERS = {"table": "tables", "figure": "figures", "animation": "animations"}
#: Files of a table that is narrow enough for a paper; wide ones are csv alone.
TYPESET = ("csv", "tex")
_DRAWN: dict[Kind, tuple[str, ...]] = {
    "table": (),
    "figure": ("pdf", "png", "svg"),
    "animation": ("gif",),
}


@dataclass(frozen=True)
class Spread:
    """Where a printed table's csv file says how far ours may be off.

    Attributes
    ----------
    In the columns' names ``{quantity}`` stands for the number's quantity.

    keys : by key of a number's condition the column that has it
    value : the column of ours
    ends : the columns of the lower and the upper end, or the one of what ours may be off either way
    words : what that is, for the caption
    """

    keys: Mapping[str, str]
    value: str
    ends: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class Artefact:
    """A table, figure or animation.

    Attributes
    ----------
    kind : ``table``, ``figure`` or ``animation``
    name : with the paper's own number, ``tab01_...`` or ``fig01_...``; ``ext_...`` beyond the paper
    rule : the rule that computes its data
    compute : ``"contactid.module:function"``, which returns its data
        (:func:`contactid.output.computing.compute`)
    draw : ``"contactid.module:function"``, from a figure's data to the figure
        (:func:`contactid.output.drawing.draw`)
    caption : plain words; of a table, TeX
    data : what a figure says it was made from; empty where its data say so in a column ``source``
    datasets
        the datasets of the run that it was made from, by name; none where it needs none, or where
        only the run knows (:attr:`contactid.output.computing.Shown.datasets`)
    title : for the report, in place of the name's words
    settings : of the configuration, that the drawing function takes by name
    files : extensions of its files that don't wait for a drawing
    spread : how far the numbers of a printed table may be off
    """

    kind: Kind
    name: str
    rule: str
    compute: str
    draw: str = ""
    caption: str = ""
    data: str = ""
    datasets: tuple[str, ...] = ()
    title: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ("csv",)
    spread: Spread | None = None

    @property
    def place(self) -> str:
        """``tables/<name>`` ...: its files below a study's results, without extensions."""
        return f"{_FOLDERS[self.kind]}/{self.name}"


def table(
    name: str,
    rule: str,
    compute: str,
    caption: str,
    files: tuple[str, ...] = (),
    datasets: Iterable[str] = (),
    title: str = "",
    spread: Spread | None = None,
) -> Artefact:
    """Declare a table; a printed one is typeset, others where ``files`` say so."""
    # what goes beyond a paper is typeset only where it is declared narrow enough for a page
    extensions = files or (("csv",) if name.startswith("ext_") else TYPESET)
    distinct = tuple(dict.fromkeys(datasets))
    return Artefact(
        "table",
        name,
        rule,
        compute,
        caption=caption,
        datasets=distinct,
        title=title,
        files=extensions,
        spread=spread,
    )


#: Declare a figure: name, rule, compute, draw; by name ``caption``, ``data``, ``datasets`` ...
figure = partial(Artefact, "figure")


@dataclass(frozen=True)
class Rows:
    """What the rows of a study's declarations share: each names a table, figure or animation.

    Functions are ``"file:function"`` below ``folder``; one that draws may stand without its file
    where it is in the file of the one that computes.

    Attributes
    ----------
    folder : the package of the files, as ``contactid.arm.artefacts``
    rule : the rule that computes the data
    data : what figures say that they were made from, unless a row says otherwise
    datasets : the datasets of the run that all were made from, unless a row says otherwise
    """

    folder: str
    rule: str
    data: str = ""
    datasets: tuple[str, ...] = ()

    def table(self, name: str, compute: str, caption: str, **more: Any) -> Artefact:
        """A table; ``more`` is what :func:`table` takes by name."""
        more = {"datasets": self.datasets, **more}
        return table(name, self.rule, f"{self.folder}.{compute}", caption, **more)

    def figure(self, name: str, compute: str, draw: str, caption: str, **more: Any) -> Artefact:
        """A figure; ``more`` are attributes of the :class:`Artefact`."""
        file = compute.partition(":")[0]
        drawn_by = draw if ":" in draw else f"{file}:{draw}"
        functions = f"{self.folder}.{compute}", f"{self.folder}.{drawn_by}"
        more = {"data": self.data, "datasets": self.datasets, **more}
        return figure(name, self.rule, *functions, caption, **more)

    def animation(self, name: str, compute: str, draw: str) -> Artefact:
        """An animation, which the caption of the figure of its name explains."""
        return Artefact(
            "animation",
            name,
            self.rule,
            f"{self.folder}.{compute}",
            f"{self.folder}.{draw}",
            data=self.data,
            datasets=self.datasets,
        )


def computed(artefacts: Iterable[Artefact], folder: str) -> list[str]:
    """The files that rules compute, below a study's folder of results."""
    files = []
    for artefact in artefacts:
        for extension in _computed_extensions(artefact):
            files.append(f"{folder}/{artefact.place}.{extension}")
    return files


def _computed_extensions(artefact: Artefact) -> tuple[str, ...]:
    """A tex file is made from the csv file, by another job."""
    return tuple(extension for extension in artefact.files if extension != "tex")


def typeset(artefacts: Iterable[Artefact], folder: str) -> list[str]:
    """The tex files."""
    return [f"{folder}/{artefact.place}.tex" for artefact in artefacts if "tex" in artefact.files]


def drawn(artefacts: Iterable[Artefact], folder: str) -> list[str]:
    """The files that are drawn."""
    files = []
    for artefact in artefacts:
        for extension in _DRAWN[artefact.kind]:
            files.append(f"{folder}/{artefact.place}.{extension}")
    return files


def artefact_files(artefacts: Sequence[Artefact], folder: str) -> list[str]:
    """All files that a reader wants of artefacts."""
    return computed(artefacts, folder) + typeset(artefacts, folder) + drawn(artefacts, folder)


def computations(artefacts: Iterable[Artefact]) -> list[dict[str, Any]]:
    """What a rule that computes artefacts is given of them."""
    return [
        {
            "place": artefact.place,
            "compute": artefact.compute,
            "files": _computed_extensions(artefact),
        }
        for artefact in artefacts
    ]


def typesettings(artefacts: Iterable[Artefact]) -> list[dict[str, Any]]:
    """What the job that makes tex files is given of its tables."""
    return [
        {
            "name": artefact.name,
            "caption": artefact.caption,
            "spread": asdict(artefact.spread) if artefact.spread else None,
        }
        for artefact in artefacts
    ]


def drawings(artefacts: Iterable[Artefact]) -> list[dict[str, Any]]:
    """What a rule that draws is given of what it draws."""
    return [
        {
            "place": artefact.place,
            "name": artefact.name,
            "draw": artefact.draw,
            "data": artefact.data,
            "settings": dict(artefact.settings),
            "files": _DRAWN[artefact.kind],
        }
        for artefact in artefacts
    ]


def files_by_place(
    declared: Sequence[Mapping[str, Any]], files: Sequence[str]
) -> dict[str, list[str]]:
    """A rule's list of files, one artefact after the other, by the artefacts' places."""
    by_place: dict[str, list[str]] = {}
    first = 0
    for row in declared:
        after = first + len(row["files"])
        by_place[row["place"]] = list(files[first:after])
        first = after
    # a declaration and its rule were edited apart
    if first != len(files):
        raise ValueError(f"{len(files)} files for the artefacts {', '.join(by_place)}")
    return by_place
