"""Numbers in README.md and docs/*.md are cells of the runs' files, and their tables are made from
committed ones.
"""

import re
import shutil

import pandas as pd
import pytest

import abstracts
import page_tables
import quoted
from contactid.core.errors import ContactIdError
from contactid.output.comparison import SCALES
from contactid.output.verdicts import BASES, VERDICTS
from contactid.review.article.prose import read_prose

#: Pages that hold no number typed by hand.
STUDIES = [f"docs/studies/{name}.md" for name in ("tossing", "planar", "arm", "inhand")]
STRICT = ["README.md", "docs/findings.md", "docs/checks.md", "docs/reproduction.md", *STUDIES]
#: Lines of other pages that may hold one: settings, and measurements that no run's file has. No
#: page may get more.
TYPED = {
    "docs/lab/tossing.md": 27,
    "docs/lab/planar.md": 34,
    "docs/lab/arm.md": 49,
    "docs/lab/inhand.md": 62,
    "docs/benchmarks.md": 0,
    "docs/cluster.md": 11,
    "docs/robustness.md": 4,
}
#: What isn't a result: names, places in papers, settings, levels, printed values said to be
#: printed, rough durations.
_NUMBERS = r"\d+(\.\d+)?((, | to | and )\d+(\.\d+)?)*"
EXEMPT = re.compile(
    "|".join([
        r"\b[A-Za-z]\w*\d\w*", r"\b4TU\b", r"BSD-3", r"Python 3\.\d+", r"10\.4121/[\w.]+", r"\b(19|20)\d\d\b",
        rf"\b([Ee]qs?\.|[Ff]igures?|[Ss]ections?|[Tt]ables?) {_NUMBERS}", r"\d+ (figures|tables)", r"\d+ cores",
        r"\d+ noise samples", r"\d+ frames/s", r"\d+ recordings", r"\d+ degrees", r"mu (=|>=) \d\.\d",
        r"(regions|intervals) of \d+ %", rf"\bprinted {_NUMBERS}", r"(\d+ and )?\d+ min\b", r"make, \d GB",
    ])
)  # fmt: skip


def prose(text):
    """What is left of a page without its markers, code, and addresses."""
    text = re.sub(r"<!--=(\w+)-->.*?<!--/-->", "", text, flags=re.S)
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`\n]*`", "", text))


def test_the_pages_are_what_their_rows_and_tables_give():
    rows = quoted.read_quoted()
    values = quoted.values_of(rows)
    for page in quoted.pages():
        text = page.read_bytes()
        assert quoted.filled(text.decode(), values).encode() == text, f"{page.name}: make numbers"


def quoted_by_articles():
    """Names of the quoted numbers that studies' articles have."""
    return {
        re.split(r"name=", value.rows)[1].strip()
        for path in sorted((quoted.ROOT / abstracts.ARTICLES).glob("*.md"))
        for value in read_prose(path).values.values()
        if value.file == "public"
    }


def test_every_marker_has_its_row_or_table_and_every_one_of_these_a_marker_or_an_article():
    marked = {
        name for page in quoted.pages() for name in quoted.marked(page.read_text(encoding="utf-8"))
    }
    rows = quoted.read_quoted()
    assert marked | quoted_by_articles() == set(quoted.values_of(rows))
    assert tuple(rows.columns) == ("name", "run", "file", "rows", "column", "format", "value")
    assert (rows["value"] != "").all()


def test_markers_do_not_show():
    """A line that begins with a comment is shown as it is typed, so only a table's marker may begin
    one.
    """
    for page in quoted.pages():
        text = page.read_text(encoding="utf-8")
        assert text.count("<!--=") == text.count("<!--/-->") == len(quoted.marked(text)), page.name
        for line in text.splitlines():
            if re.match(r"[ >*\-\d.]*<!--", line):
                assert re.fullmatch(r"<!--(=table_\w+|/)-->", line), f"{page.name}: {line}"
        for code in re.findall(r"^```.*?^```|`[^`\n]*`", text, re.S | re.M):
            assert "<!--=" not in code, f"{page.name}: {code}"


@pytest.mark.parametrize("name", [*STRICT, *TYPED])
def test_no_number_is_typed(name):
    lines = prose((quoted.ROOT / name).read_text(encoding="utf-8")).splitlines()
    typed = [line for line in lines if re.search(r"\d", EXEMPT.sub("", line))]
    assert len(typed) <= TYPED.get(name, 0), "\n".join(typed)


def row_of(**cells):
    usual = {"name": "n", "run": "a", "file": "t.csv", "rows": "", "column": "x", "format": ".1f"}
    return pd.Series(usual | cells)


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "results/a"
    (folder / "parts").mkdir(parents=True)
    (folder / "t.csv").write_text("k,c,x\na,p=1;q=2,0.254\nb,,-3\nb,p=1,-0.04\n")
    (folder / "parts/1.tsv").write_text("s\n1.5\n")
    (folder / "parts/2.tsv").write_text("s\n2.5\n")
    return tmp_path


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ({"rows": "k=a"}, "0.3"),
        ({"rows": "c=p=1;q=2", "format": ".0%"}, "25 %"),
        ({"rows": "k=b & c=", "format": ".2f*-10"}, "30.00"),
        ({"rows": "k!=a & c!=", "format": ".1f"}, "0.0"),
        ({"rows": "k=b", "column": "count", "format": "d"}, "2"),
        ({"rows": "k=none", "column": "count", "format": "d"}, "0"),
        ({"column": "largest(x)"}, "3.0"),
        ({"column": "min(x)"}, "-3.0"),
        ({"file": "parts/*.tsv", "column": "sum(s)"}, "4.0"),
        ({"run": "", "file": "results/a/t.csv", "rows": "k=a"}, "0.3"),
        ({"run": "other"}, None),
        ({"file": "planar/t.csv"}, None),
    ],
)
def test_a_number_is_taken(run, cells, text):
    assert quoted.taken(row_of(**cells), run) == text


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"file": "u.csv"}, "results/a/u.csv isn't there"),
        ({"rows": "k=c"}, "t.csv: no rows have k=c"),
        ({"rows": "k=b"}, "t.csv: 2 rows have k=b"),
        ({"rows": "k=c", "column": "max(x)"}, "t.csv: no rows have k=c"),
        ({"rows": "z=1"}, "t.csv: there is no column z"),
        ({"rows": "k=a", "column": "y"}, "t.csv: there is no column y"),
        ({"rows": "k"}, "t.csv: 'k' isn't column=value"),
        ({"rows": "k=a", "column": "c"}, "t.csv: 'p=1;q=2' is no number"),
        ({"column": "often(x)"}, "t.csv: often(x) is none of"),
    ],
)
def test_what_cannot_be_taken_is_said_in_one_line(run, cells, problem):
    with pytest.raises(ContactIdError, match=re.escape(f"n: {problem}")) as raised:
        quoted.taken(row_of(**cells), run)
    assert "\n" not in str(raised.value)


def test_make_numbers_takes_what_is_there_and_says_what_is_not(run, capsys):
    for name in ("published", "verdicts", "stored/tossing_benchmark", "stored/tossing_splits"):
        folder = f"workflow/resources/{name}"
        shutil.copytree(quoted.ROOT / folder, run / folder)
    measured = (
        page_tables.OWN_THROWS, page_tables.OWN_IMPACTS, page_tables.OWN_REGIONS, page_tables.OWN_CONVENTIONS,
            page_tables.OWN_BOXES, page_tables.OWN_REAL_THROWS, page_tables.OWN_ARMS,
    )  # fmt: skip
    for name in (page_tables.MISSING, abstracts.ABSTRACTS, *measured):
        shutil.copy(quoted.ROOT / name, run / name)
    rows = [row_of(name="one", rows="k=a", value=""), row_of(name="two", run="other", value="0.5")]
    pd.DataFrame(rows).to_csv(run / quoted.QUOTED, index=False)
    (run / "docs").mkdir()
    page = run / "README.md"
    page.write_text(
        "It is <!--=one--><!--/-->, not <!--=two-->0.4<!--/-->.\n\n<!--=table_of_bases--><!--/-->\n"
    )
    quoted.main(run)
    text = page.read_text()
    assert text.startswith("It is <!--=one-->0.3<!--/-->, not <!--=two-->0.5<!--/-->.")
    assert all(f"| `{name}` | {told} |" in text for name, told in BASES.items())
    assert list(quoted.read_quoted(run)["value"]) == ["0.3", "0.5"]
    said = capsys.readouterr().out
    assert "one: new -> 0.3" in said
    assert "results/other isn't there: its 1 numbers stay as they are" in said
    quoted.main(run)
    assert page.read_text() == text


def test_a_name_is_given_once(run):
    (run / "workflow/resources").mkdir(parents=True)
    pd.DataFrame([row_of(), row_of()]).to_csv(run / quoted.QUOTED, index=False)
    with pytest.raises(ContactIdError, match="n has two rows"):
        quoted.read_quoted(run)


def test_every_difference_has_its_reason_and_every_reason_its_difference():
    """Raises where it isn't so; then the page has a line for each reason."""
    told = page_tables.entries(quoted.ROOT)
    table = page_tables.differences(told, page_tables.differing(quoted.ROOT))
    assert len(table.strip().splitlines()) == len(told) + 2


def differing(*conditions):
    rows = [("planar", "fig07", "t_ms", condition, "78", "1356", "ms") for condition in conditions]
    return pd.DataFrame(rows, columns=[*page_tables.KEY, "value", "reproduced", "unit"])


def entry(condition, printed="a time"):
    key = dict(zip(page_tables.KEY, ("planar", "fig*", "t_ms", condition), strict=True))
    return {**key, "printed": printed, "why": "w"}


def test_differences_are_listed_with_their_reasons():
    told = [entry("h=1", "one"), entry("h=[!1]*", "more")]
    table = page_tables.differences(told, differing("h=1", "h=2", "h=3", "h=4"))
    assert "| planar, one | 78 -> 1356 ms | w |" in table
    assert "| planar, more | 78 -> 1356 ms; 78 -> 1356 ms; and 1 more | w |" in table
    assert "| doesn't hold |" in page_tables.differences(
        [entry("*")], differing("h=1").assign(unit="holds")
    )
    two = page_tables.differences([entry("*")], differing("h=1", "h=2").assign(unit="holds"))
    assert "| doesn't hold in 2 cases |" in two


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ([], "0 entries are about planar, fig07, t_ms, h=1"),
        ([entry("h=2"), entry("*")], "no number differs for 'a time'"),
        ([entry("h=1"), entry("*")], "2 entries are about planar, fig07, t_ms, h=1"),
    ],
)
def test_a_difference_without_exactly_one_reason_is_an_error(told, problem):
    with pytest.raises(ContactIdError, match=re.escape(problem)):
        page_tables.differences(told, differing("h=1"))


def test_counts_lead_with_what_could_have_failed():
    of_arm = (("input", ""), ("reproduced", ""), ("reproduced", "other"))
    rows = [("planar", "input", ""), *(("arm", *row) for row in of_arm)]
    accepted = pd.DataFrame(rows, columns=["study", "verdict", "repeats"])
    lines = page_tables.counts(accepted).strip().splitlines()
    assert lines[0].split(" | ")[1:4] == ["reproduced", "print consistent", "fitted"]
    assert len(lines[0].split("|")) == len(VERDICTS) + 3
    counts = {
        line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in lines[2:]
    }
    assert counts["planar"] == ["1" if verdict == "input" else "0" for verdict in VERDICTS]
    assert counts["arm"] == [
        "1" if verdict in ("input", "reproduced") else "0" for verdict in VERDICTS
    ]


def test_what_is_missing_is_told_by_artefact(tmp_path):
    (tmp_path / "results/default").mkdir(parents=True)
    (tmp_path / "workflow/resources/verdicts").mkdir(parents=True)
    accepted = tmp_path / page_tables.ACCEPTED
    accepted.write_text("study\ns\nanother\n")
    rows = [
        (
            "s",
            "tab01",
            "needs_archive",
            "mu of Box4 (Table I) from box4 10.4121/1.v2, box5 10.4121/c.3; ours is 3",
        ),
        ("s", "tab01", "needs_archive", "e of Box4 (Table I), measured in box4 10.4121/1.v2"),
        (
            "s",
            "tab01",
            "never_published",
            "mu of Box4 by Algoryx Dynamics (Table I), which is licensed",
        ),
        ("s", "tab01", "differs", "x"),
        ("s", "tab02", "never_published", "the friction, which isn't printed; one"),
    ]
    checks = pd.DataFrame(rows, columns=["study", "artefact", "verdict", "note"])
    checks.to_csv(tmp_path / "results/default/checks.csv", index=False)
    page_tables.take_missing(tmp_path)
    assert not (tmp_path / page_tables.MISSING).exists(), "a run of one study has taken its place"
    accepted.write_text("study\ns\n")
    page_tables.take_missing(tmp_path)
    found = pd.read_csv(tmp_path / page_tables.MISSING)
    assert found.values.tolist() == [
        ["s", "tab01", "needs_archive", 2, "box4 10.4121/1.v2; box5 10.4121/c.3"],
        ["s", "tab01", "never_published", 1, "Algoryx Dynamics, which is licensed"],
        ["s", "tab02", "never_published", 1, "the friction, which isn't printed"],
    ]


def test_the_tables_name_everything_that_the_comparison_knows():
    tables = page_tables.all_tables(quoted.ROOT)
    assert all(f"| `{name}` |" in tables["table_of_verdicts"] for name in VERDICTS)
    assert all(
        f"| {unit} | +- {size:g} |" in tables["table_of_scales"] for unit, size in SCALES.items()
    )


def test_the_benchmark_s_table_has_what_starts_alike_together():
    errors = {"position_pct": 9.04, "position_sd": 5.0, "rotation_deg": 8.0, "rotation_sd": 9.0}
    mujoco = {"row": "mujoco", "body": "calibrated", **errors, "loss": 0.2204, "us_per_step": 6.31}
    rows = [{**mujoco, "start": start} for start in ("file", "flight")]
    rows.append({"row": "Drake_published", "start": "file", "body": "nominal", **errors})
    lines = page_tables.benchmark(pd.DataFrame(rows)).strip().splitlines()[2:]
    assert lines == [
        "| MuJoCo | calibrated | 9.0 +- 5.0 | 8.0 +- 9.0 | 0.220 | 6.3 |",
        "| Drake (Acosta et al.) | nominal | 9.0 +- 5.0 | 8.0 +- 9.0 |  |  |",
        "| MuJoCo, start fitted | calibrated | 9.0 +- 5.0 | 8.0 +- 9.0 | 0.220 | 6.3 |",
    ]


def test_few_tosses_stand_beside_many_with_the_range_of_their_draws():
    curve = pd.DataFrame(
        {
            "law": "newton", "n_tosses": [4, 329], "draws": [5, 1], "test_loss": [0.36, 0.204],
            "test_loss_least": [0.353, 0.204], "test_loss_most": [0.537, 0.204],
        }
    )  # fmt: skip
    lines = page_tables.few_tosses(curve).strip().splitlines()
    assert lines[0] == "| law | 4 tosses | 329 tosses |"
    assert lines[2] == "| newton | 0.36 (0.35 to 0.54) | 0.20 |"
