"""Pictures of the README and the gallery, and the gallery's page: ``make pictures``.

Small copies of a finished run's figures, and a toss that moves (:mod:`moving_toss`), where the data
of its cube are there. The page has each figure's own caption, and leads to what draws it.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from contactid.core.errors import ContactIdError
from contactid.output.artefacts import Artefact
from moving_toss import median_toss, moving_picture

ROOT = Path(__file__).parents[1]
FOLDER, PAGE = "docs/pictures", "docs/gallery.md"
# folder of a mirror of the public data
CUBE = "contactnets"
#: Figures of the default run that show a body, a fit or an answer at a glance.
SHOWN = {
    "tossing": (
        "fig11_trajectory",
        "fig12_trajectory_costs",
        "fig13_rest_poses",
        "ext_rest_pose_distribution",
    ),
    "planar": ("fig09_throw_motion", "fig17_identified_trajectories", "fig20_rig"),
    "arm": ("fig01_arm", "fig04_two_mass", "fig06_cartesian_fit"),
    "inhand": ("fig01_inhand", "fig04_objects", "ext_identifiability"),
}
TITLES = {
    "tossing": "Tossing boxes",
    "planar": "Planar bodies",
    "arm": "A robot arm that hits a table",
    "inhand": "An object in hand",
}
# the study whose article the README shows a page of
ARTICLE = "tossing"
# px of a window: title and summary, without a page's empty margins
_PAGE_SIZE = "900,1150"
# px, of the picture of a page
_PAGE_WIDTH = 480
# px: twice as wide as a page shows it
_WIDTH = 800
# of a picture: drawings have few, and a picture then takes some 20 kB
_COLOURS = 48

_HEAD = """# Gallery

Written by `make pictures`. A picture leads to the code that draws it. All but the first are figures of the default run,
small; `results/default/<study>/figures/` has them for print, with their numbers as csv.

## A real toss, predicted

![A measured toss of a cube and its prediction, moving](pictures/toss.svg)

The median one, by loss, of the real tosses of the [ContactNets](data.md) cube that weren't used to identify. It is
predicted from its release on by what the others say, with the incremental law of impact.
[What draws it](../tools/moving_toss.py). Data: DAIR Lab, BSD-3-Clause.
"""


def gallery(root: Path = ROOT) -> str:
    """The page: every shown figure by its declared caption."""
    parts = [_HEAD]
    for study, names in SHOWN.items():
        declared = _figures(study, root)
        parts.append(f"## {TITLES[study]}\n")
        for name in names:
            figure = declared[name]
            module, function = figure.draw.split(":")
            code = f"../workflow/{module.replace('.', '/')}.py"
            alt = name.split("_", 1)[1].replace("_", " ")
            picture = f"[![{alt}](pictures/{study}_{name}.png)]({code})"
            parts.append(f"{picture}\n\n{figure.caption} (`{name}`, `{function}`)\n")
    return "\n".join(parts)


def _figures(study: str, root: Path) -> dict[str, Artefact]:
    settings: dict[str, Any] = yaml.safe_load((root / "config/default.yaml").read_text())[study]
    declare = importlib.import_module(f"contactid.{study}.artefacts").declare
    return {row.name: row for row in declare(settings) if row.kind == "figure"}


def copy_small(figure: Path, picture: Path, width: int = _WIDTH) -> None:
    """A figure as a small picture of few colours: those that differ most, so that thin lines keep
    theirs.
    """
    with Image.open(figure) as image:
        height = round(image.height * width / image.width)
        small = image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
    # by their means, or pale areas take the colour of a line
    few = small.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, 1, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def copy_page(page: Path, picture: Path) -> None:
    """The top of a page, as a browser shows it; without a browser the picture stays."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not browser:
        print(f"no Chromium: {picture} stays as it is (CHROMIUM names one)")
        return
    with tempfile.TemporaryDirectory() as folder:
        shown = Path(folder) / "page.png"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={_PAGE_SIZE}"]
        command = [browser, *options, f"--screenshot={shown}", page.absolute().as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        copy_small(shown, picture, _PAGE_WIDTH)


def main(run: Path, mirror: Path, root: Path = ROOT) -> None:
    """Write the pictures and the page.

    Raises :class:`ContactIdError` where the run has no figures.
    """
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    if (mirror / CUBE).is_dir():
        toss = median_toss(mirror / CUBE)
        for name, still in (("toss", False), ("toss_still", True)):
            text = moving_picture(toss, still=still)
            (folder / f"{name}.svg").write_text(text, encoding="utf-8")
    else:
        print(f"{mirror / CUBE} isn't there: the moving toss stays as it is")
    for study, names in SHOWN.items():
        for name in names:
            figure = run / study / "figures" / f"{name}.png"
            if not figure.is_file():
                raise ContactIdError(f"{figure} isn't there", "finish the run: make")
            copy_small(figure, folder / f"{study}_{name}.png")
    copy_page(run / ARTICLE / "article.html", folder / f"{ARTICLE}_article.png")
    (root / PAGE).write_text(gallery(root), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="folder of a finished run")
    parser.add_argument("--mirror", type=Path, default=Path(), help="folder of the public data")
    given = parser.parse_args()
    try:
        main(given.run, given.mirror)
    except ContactIdError as error:
        sys.exit(f"ERROR {error}")
