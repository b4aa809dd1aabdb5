"""A run's summary leads with what is reproduced, and adds nothing up."""

import pandas as pd

from contactid.output.comparison import COLUMNS
from contactid.output.summary import conclude
from contactid.output.tables import write_csv


def verdicts(study, *rows):
    """A study's table: of every row its verdict, what it repeats, and its note."""
    table = pd.DataFrame(rows, columns=["verdict", "repeats", "note"])
    return table.assign(study=study).reindex(columns=list(COLUMNS))


def test_a_line_per_study_comes_first(tmp_path):
    one = verdicts(
        "one",
        (
            "needs_archive",
            "",
            "rest poses (Table III) in box_c, 10.4121/17122553.v1; 10.4121/0 is another",
        ),
        ("differs", "", ""),
        ("fitted", "", ""),
        ("reproduced", "", ""),
        ("reproduced", "object=a", ""),
        ("print_consistent", "", ""),
        ("print_consistent", "", ""),
    )
    two = verdicts("two", ("input", "", ""))  # its empty columns are read as numbers
    write_csv(one, tmp_path / "one.csv")
    write_csv(two, tmp_path / "two.csv")
    (tmp_path / "one.md").write_text("## one\n\nwords\n")
    studies, sections = (
        [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")],
        [str(tmp_path / "one.md")],
    )
    (tmp_path / "card.json").write_text('{"of_the_paper": false, "synthetic": true}')
    cards = [str(tmp_path / "card.json")]
    files = [str(tmp_path / name) for name in ("checks.csv", "claims.csv", "summary.md")]
    conclude("r", studies, sections, cards, [], *files)
    assert (tmp_path / "summary.md").read_text() == (
        "# Run r\n\nThis run had no recordings: its data (1 dataset) are synthetic twins, simulated in place of "
        "recordings.\n\n## Printed numbers (checks.csv)\n\n"
        "* one: 1 reproduced, 2 print_consistent, 1 fitted, 1 differs, 1 needs_archive"
        " (datasets that the run lacks: 10.4121/17122553.v1)\n"
        "* two: 0 reproduced, 1 input\n\n## one\n\nwords\n"
    )
    assert len(pd.read_csv(tmp_path / "checks.csv")) == 8
