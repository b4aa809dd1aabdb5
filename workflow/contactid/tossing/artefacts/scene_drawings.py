"""Draw figures 1 to 4 of the tossing paper from their scenes (:mod:`contactid.tossing.artefacts.scenes`).

What is seen from where, and how large, is decided here; every point, length and speed comes from the table.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import style
from contactid.tossing.artefacts.camera import Camera, Canvas, looking_across, points_of

INSTEAD_OF_PHOTOGRAPH = "Rendered from data in place of a photograph"
INSTEAD_OF_SKETCH = "Rendered to scale from data in place of a sketch"

_QUIET = "#555555"
_PLANE, _PLANE_EDGE, _PLANE_LINE = "#eef1f4", "#6b7680", "#d3d9df"
_SHADOW = "#5b6570"
_CARTON = "#cfcfcf"
_AXIS_COLOURS = (style.RELEASE, style.ACCENT, style.LINE)
_INSTANTS = {"release": style.RELEASE, "first contact": style.ACCENT, "rest": style.REST}
_SAID = {"start": "start of recording"}
_HEAD, _LETTERS, _FOOT = 0.40, 0.18, 0.24  # inches: title and note above, panel letters, the line about the data below
_TALLEST = 3.0  # inches of a scene without its texts
_FITTINGS = 30  # texts keep their size while a scene shrinks, so the right scale takes a few rounds
_EDGE, _BETWEEN = 0.06, 0.25  # inches: at the page's edges, between panels
_SMALL, _NORMAL = 7.0, 8.0


def draw_example_toss(data: pd.DataFrame) -> Figure:
    """Figure 1: a toss in time lapse."""
    path = points_of(_part(data, "path"))
    camera = looking_across(path[-1, :2] - path[0, :2], turn=np.radians(14.0), elevation=np.radians(24.0))
    figure, canvas = _page(style.DOUBLE_COLUMN, camera, data)
    _surface(canvas, data)
    _grid_scale(canvas, data)
    instants = _ordered(data)
    opacity = np.linspace(0.45, 1.0, len(instants))
    for item in instants:
        _shadow(canvas, data, item, 0.10)
    for item, alpha in zip(instants, opacity, strict=True):
        _box(canvas, data, item, _INSTANTS.get(item, _CARTON), alpha=alpha)
    _belt(canvas, data)
    _paths(canvas, data)
    for item in instants:
        canvas.marker(_origin(data, item), _INSTANTS.get(item, "white"), 4.5 if item in _INSTANTS else 2.5)
    _call_out(canvas, data, [item for item in instants if item in _INSTANTS])
    return _finish(figure, [canvas], _title(data), INSTEAD_OF_PHOTOGRAPH)


def draw_frames(data: pd.DataFrame) -> Figure:
    """Figure 2: frames and contact points."""
    camera = Camera(np.radians(-62.0), np.radians(22.0))
    figure, canvas = _page(0.7 * style.DOUBLE_COLUMN, camera, data)
    _surface(canvas, data)
    _grid_scale(canvas, data)
    _shadow(canvas, data, "B", 0.16)
    origins = {name: points_of(_part(data, "axis", name))[0] for name in _frames(data)}
    surface = next(name for name in origins if "C" in name)
    for name in (name for name in origins if name != "B"):
        _triad(canvas, data, name)
    _box(canvas, data, "B", _CARTON, alpha=0.65, hidden=True)
    if "M" in origins:
        _position(canvas, origins["M"], origins[surface], r"${}^M\mathbf{o}_C$")
    _position(canvas, origins[surface], origins["B"], r"${}^C\mathbf{o}_B$")
    _triad(canvas, data, "B")
    _corners(canvas, _part(data, "corner"), origins["B"])
    return _finish(figure, [canvas], _title(data), INSTEAD_OF_SKETCH)


def draw_setup(data: pd.DataFrame) -> Figure:
    """Figure 3: the set-up in overview (a), and the body at its release (b)."""
    everything = points_of(data)
    middle = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
    span = float(np.ptp(everything, axis=0).max())
    overview = Camera(np.radians(-68.0), np.radians(30.0), 2.6 * span, (middle[0], middle[1], 0.0))
    figure, canvas = _page(0.64 * style.DOUBLE_COLUMN, overview, data)
    _draw_overview(canvas, data)
    title, panels = _title(data), [canvas, _detail(figure, data)]
    return _finish(figure, panels, title, INSTEAD_OF_PHOTOGRAPH, widest=style.DOUBLE_COLUMN)


def _draw_overview(canvas: Canvas, data: pd.DataFrame) -> None:
    _surface(canvas, data)
    length, width, travel = (_part(data, "dimension", item) for item in ("surface length", "surface width", "travel"))
    canvas.dimension(points_of(length), f"surface shown: {_measure(length)}", -13.0)
    canvas.dimension(points_of(width), _measure(width), -13.0)
    instants = _ordered(data)
    for item in instants:
        _shadow(canvas, data, item, 0.14)
    feet = points_of(travel)
    feet = feet[np.argsort(canvas.camera.project(feet)[:, 0])]
    canvas.dimension(feet, f"travel {_measure(travel)}", -_reach_below(canvas, feet, data, instants) - 5.0)
    for item in sorted(instants, key=lambda item: float(canvas.camera.nearness(_origin(data, item)))):
        _box(canvas, data, item, _INSTANTS.get(item, _CARTON), alpha=0.9)
    _belt(canvas, data)
    _paths(canvas, data)
    for item in instants:
        canvas.marker(_origin(data, item), _INSTANTS.get(item, "white"))
    carried = points_of(_part(data, "path", "carried"))
    if len(carried):
        canvas.label(carried[len(carried) // 2], "carried", _QUIET, prefer=np.array([0.0, 1.0]), size=_SMALL)
    for name in _frames(data):
        _triad(canvas, data, name, named_axes=False)
    _call_out(canvas, data, instants)


def _reach_below(canvas: Canvas, line: np.ndarray, data: pd.DataFrame, items: list[str]) -> float:
    """How far, in points of type, boxes reach to the right of a line (2, 3) in the picture."""
    start, end = canvas.camera.project(line)
    along = (end - start) / np.linalg.norm(end - start)
    corners = canvas.camera.project(np.concatenate([points_of(_part(data, "face", item)) for item in items])) - start
    beside = (corners @ along > 0.0) & (corners @ along < np.linalg.norm(end - start))
    right = corners[beside] @ np.array([along[1], -along[0]])
    return 72.0 * canvas.scale * max(0.0, float(right.max(initial=0.0)))


def _detail(figure: Figure, data: pd.DataFrame) -> Canvas:
    shown = pd.concat([_part(data, part, "release") for part in ("shadow", "face", "origin", "corner")])
    camera = Camera(np.radians(-62.0), np.radians(24.0))
    wide = pd.concat([shown, _part(data, "velocity")])
    canvas = Canvas(figure, camera, _scale(camera, wide, 0.27 * style.DOUBLE_COLUMN))
    _shadow(canvas, data, "release", 0.16)
    _box(canvas, data, "release", _INSTANTS["release"], alpha=0.5, hidden=True)
    center = points_of(_part(shown, "origin"))[0]
    height = _part(data, "dimension", "release height")
    feet = camera.project(points_of(_part(shown, "shadow")))[:, 0]
    left = camera.project(center)[0] - min(feet.min(), camera.project(points_of(shown))[:, 0].min())
    canvas.dimension(points_of(height), f"height {_measure(height)}", left * canvas.scale * 72.0 + 16.0)
    _corners(canvas, _part(shown, "corner"), center)
    for item, colour, symbol in (("linear", style.LINE, r"\mathbf{v}"), ("angular", style.ACCENT, r"\mathbf{\omega}")):
        arrow = _part(data, "velocity", item)
        start, end = points_of(arrow)
        canvas.arrow(start, end, colour, 1.6)
        text = f"$|{symbol}|$ = {arrow['value'].iloc[0]:.2f} {arrow['unit'].iloc[0]}"
        canvas.label(end, text, colour, prefer=camera.project(end) - camera.project(start), size=_SMALL)
    canvas.marker(center, "white")
    return canvas


def draw_boxes(data: pd.DataFrame) -> Figure:
    """Figure 4: the objects to one scale."""
    camera = Camera(np.radians(-90.0), np.radians(24.0))
    names = list(dict.fromkeys(data["object"]))
    width = max(style.SINGLE_COLUMN, style.DOUBLE_COLUMN * min(1.0, len(names) / 4.0))
    largest = 1.5 / float(np.ptp(points_of(data[data["object"] == names[0]])[:, 0]))
    figure, canvas = _page(width, camera, data, largest=largest)
    for name in names:
        part = data[data["object"] == name]
        _shadow(canvas, part, name, 0.18)
        _box(canvas, part, name, _CARTON)
        for item in ("length", "width", "height"):
            side = _part(part, "dimension", item)
            canvas.dimension(points_of(side), f"{side['value'].iloc[0]:.4g}", -7.0)
    foot = canvas.lowest()
    for letter, (_, mass) in zip("abcdefghijklmnopqrstuvwxyz", _part(data, "mass").iterrows(), strict=False):
        below = np.array([canvas.camera.project(mass[["x_m", "y_m", "z_m"]].to_numpy(dtype=float))[0], foot])
        name = f"({letter}) {mass['object']}" if len(names) > 1 else str(mass["object"])
        canvas.note(below, name, shift=(0.0, -10.0), size=_NORMAL)
        canvas.note(below, f"{mass['value']:.4g} {mass['unit']}", shift=(0.0, -20.0), size=_SMALL)
    return _finish(figure, [canvas], "Objects of this run, sizes in mm", INSTEAD_OF_PHOTOGRAPH)


def _page(width: float, camera: Camera, data: pd.DataFrame, largest: float = np.inf) -> tuple[Figure, Canvas]:
    """A figure of a width (inches) and a canvas as large as fits, or of the ``largest`` scale (inches per m)."""
    figure = plt.figure(figsize=(width, _TALLEST))
    figure.set_layout_engine("none")  # the canvases know better how much room they need
    scale = min(largest, _scale(camera, data, width - 2.0 * _EDGE))
    return figure, Canvas(figure, camera, scale)


def _scale(camera: Camera, data: pd.DataFrame, width: float) -> float:
    """Inches per metre at which a scene is as wide as said (inches), or less so that it doesn't get too tall."""
    size = np.ptp(camera.project(points_of(data)), axis=0)
    return float(min(width / size[0], _TALLEST / size[1]))


def _finish(figure: Figure, panels: list[Canvas], title: str, note: str, *, widest: float | None = None) -> Figure:
    """Give the page the size its panels need, side by side, and write above them."""
    room = (widest or figure.get_size_inches()[0]) - 2.0 * _EDGE - _BETWEEN * (len(panels) - 1)
    _shrink(panels, room)
    for panel in panels:
        panel.place_labels()
    _shrink(panels, room)
    sizes = [panel.size() for panel in panels]
    content = sum(size[0] for size in sizes) + _BETWEEN * (len(panels) - 1)
    width = max(style.SINGLE_COLUMN, content + 2.0 * _EDGE)
    head = _HEAD + (_LETTERS if len(panels) > 1 else 0.0)
    height = max(size[1] for size in sizes) + head + _FOOT
    figure.set_size_inches(width, height)
    left = 0.5 * (width - content)
    for letter, panel, size in zip("ab", panels, sizes, strict=False):
        panel.place(left, height - head - size[1], (width, height))
        if len(panels) > 1:
            figure.text(left / width, 1.0 - (head - 0.04) / height, f"({letter})", fontsize=_NORMAL)
        left += size[0] + _BETWEEN
    figure.text(_EDGE / width, 1.0 - 0.15 / height, title, fontsize=_NORMAL)
    figure.text(_EDGE / width, 1.0 - 0.28 / height, note, fontsize=6, color=_QUIET)
    return figure


def _shrink(panels: list[Canvas], room: float) -> None:
    """Make the scenes smaller until the panels together are no wider than the room (inches)."""
    for _ in range(_FITTINGS):
        shrink = min(1.0, room / sum(panel.size()[0] for panel in panels))
        for panel in panels:
            panel.scale *= shrink


def _part(data: pd.DataFrame, part: str, item: str | None = None) -> pd.DataFrame:
    chosen = data["part"] == part
    return data[chosen if item is None else chosen & (data["item"] == item)]


def _title(data: pd.DataFrame) -> str:
    return f"{data['object'].iloc[0]}, toss {data['toss'].iloc[0]}"


def _ordered(data: pd.DataFrame) -> list[str]:
    """Instants shown, in the order of time."""
    return [str(item) for item in _part(data, "origin").sort_values("sample")["item"]]


def _frames(data: pd.DataFrame) -> list[str]:
    return [str(item) for item in dict.fromkeys(_part(data, "axis")["item"])]


def _origin(data: pd.DataFrame, item: str) -> np.ndarray:
    """B's origin (3,) at an instant."""
    return points_of(_part(data, "origin", item))[0]


def _measure(dimension: pd.DataFrame) -> str:
    return f"{dimension['value'].iloc[0]:.2f} {dimension['unit'].iloc[0]}"


def _surface(canvas: Canvas, data: pd.DataFrame) -> None:
    canvas.polygon(points_of(_part(data, "surface")), _PLANE)
    grid = _part(data, "grid")
    for _, line in grid.groupby(["item", "index"]):
        canvas.line(points_of(line), _PLANE_LINE, 0.4)
    border = points_of(_part(data, "surface"))
    canvas.polygon(border, "none", edge=_PLANE_EDGE, width=0.9)
    canvas.avoid(np.vstack([border, border[:1]]))


def _grid_scale(canvas: Canvas, data: pd.DataFrame) -> None:
    """A dimension between neighbouring grid lines, at the edge of the surface that is nearest to the viewer."""
    grid = _part(data, "grid")
    lines = [points_of(line) for _, line in grid[grid["item"] == "x"].groupby("index")][:2]
    if len(lines) < 2:
        return
    near = max(range(2), key=lambda end: float(canvas.camera.nearness(lines[0][end])))
    ends = np.stack([line[near] for line in lines])
    if canvas.camera.project(ends[1])[0] < canvas.camera.project(ends[0])[0]:
        ends = ends[::-1]
    canvas.dimension(ends, f"{grid['value'].iloc[0]:g} m", -9.0)


def _shadow(canvas: Canvas, data: pd.DataFrame, item: str, alpha: float) -> None:
    canvas.polygon(points_of(_part(data, "shadow", item)), _SHADOW, alpha=alpha)


def _box(
    canvas: Canvas, data: pd.DataFrame, item: str, colour: str, *, alpha: float = 1.0, hidden: bool = False
) -> None:
    """A box; ``hidden`` shows its edges at the back dashed."""
    faces = points_of(_part(data, "face", item)).reshape(6, 4, 3)
    if hidden:
        for face in faces[~canvas.camera.sees(faces)]:
            canvas.line(np.vstack([face, face[:1]]), _QUIET, 0.4, ls=(0, (3, 2)))
    canvas.box(faces, colour, alpha=alpha)
    for face in faces[canvas.camera.sees(faces)]:
        canvas.avoid(np.vstack([face, face[:1]]))


def _belt(canvas: Canvas, data: pd.DataFrame) -> None:
    """The belt's arrow, moved to the side of the surface that is nearest to the viewer."""
    belt = _part(data, "belt")
    if len(belt):
        border = points_of(_part(data, "surface"))
        nearest = border[np.argsort(canvas.camera.nearness(border))[-2:]].mean(axis=0)
        start, end = points_of(belt) + 0.75 * (nearest - border.mean(axis=0))
        canvas.arrow(start, end, style.RELEASE, 2.0)
        canvas.label(end, f"belt {_measure(belt)}", style.RELEASE, prefer=np.array([0.0, -1.0]), size=_SMALL)


def _paths(canvas: Canvas, data: pd.DataFrame) -> None:
    for item, path in _part(data, "path").groupby("item", sort=False):
        points = points_of(path)
        canvas.avoid(points)
        if item == "carried":
            canvas.line(points, _QUIET, 1.2, ls=(0, (1, 1.5)))
        else:
            canvas.line(points, style.LINE, 1.2, halo=True)


def _call_out(canvas: Canvas, data: pd.DataFrame, items: list[str]) -> None:
    """Name instants in a row over everything drawn, each with a thin line down to B's origin."""
    flat = np.array([canvas.camera.project(_origin(data, item)) for item in items])
    row = canvas.highest() + 0.06 / canvas.scale
    places = _apart(flat[:, 0], 0.8 / canvas.scale)
    for item, point, x in zip(items, flat, places, strict=True):
        time = float(_part(data, "origin", item)["time_s"].iloc[0])
        label = np.array([x, row])
        canvas.leader(np.stack([point, label]))
        canvas.note(label, _SAID.get(item, item), shift=(0.0, 14.0), size=_SMALL)
        canvas.note(label, _seconds(time), _QUIET, shift=(0.0, 5.0), size=6.0)


def _seconds(time: float) -> str:
    sign = "" if time == 0.0 else "+" if time > 0.0 else "\N{MINUS SIGN}"
    return f"{sign}{abs(time):.2f} s"


def _apart(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Places nearest to the wanted ones (n,), in the same order, no two closer than the gap.

    Pushing neighbours apart in pairs moves the group as a whole as little as possible.
    """
    order = np.argsort(wanted, kind="stable")
    places = wanted[order].astype(float)
    for _ in range(200):
        missing = gap - np.diff(places)
        if (missing <= 1e-6 * gap).all():
            break
        push = 0.5 * np.maximum(missing, 0.0)
        places[:-1] -= push
        places[1:] += push
    result = np.empty_like(places)
    result[order] = places
    return result


def _triad(canvas: Canvas, data: pd.DataFrame, frame: str, *, named_axes: bool = True) -> None:
    """The axes of a frame, and its letter."""
    letter = frame.split()[0]
    axes = _part(data, "axis", frame)
    origin = points_of(axes)[0]
    middle = canvas.camera.project(origin)
    for k, colour in enumerate(_AXIS_COLOURS):
        _, end = points_of(axes[axes["index"] == k])
        canvas.arrow(origin, end, colour, 1.4)
        if named_axes:
            name = rf"$\mathbf{{{'xyz'[k]}}}_{letter}$"
            canvas.label(end, name, colour, prefer=canvas.camera.project(end) - middle)
    canvas.marker(origin, "white", 3.0)
    name = r"$\,\approx\,$".join(f"${part}$" for part in frame.split())
    if named_axes:
        canvas.label(origin, name, prefer=np.array([-1.0, -0.7]))
    else:  # among boxes, the tip of z is where a name is least in the way
        canvas.label(end, name, prefer=np.array([0.0, 1.0]))


def _position(canvas: Canvas, start: np.ndarray, end: np.ndarray, name: str) -> None:
    """The vector between two frames' origins."""
    ends = np.stack([start, end])
    canvas.line(ends, _QUIET, 0.8, halo=True, ls=(0, (4, 2)))
    canvas.avoid(ends)
    canvas.label(0.5 * (start + end), name, _QUIET, prefer=np.array([0.3, 1.0]))


def _corners(canvas: Canvas, corners: pd.DataFrame, center: np.ndarray) -> None:
    """Contact points with their numbers, preferably on the side away from the body's middle."""
    middle = canvas.camera.project(center)
    for number, point in zip(corners["index"], points_of(corners), strict=True):
        canvas.marker(point, "black", 2.4)
        canvas.label(point, rf"$\mathbf{{p}}_{number}$", prefer=canvas.camera.project(point) - middle)
