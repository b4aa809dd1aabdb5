"""docs/findings.md says what the studies' articles say, with the run's numbers."""

import abstracts
from contactid.review.article.prose import SUMMARY

ARTICLE = """---
runs: [default]
files:
  cells: planar/cells.csv
values:
  error: cells | mu=0.2 | error | .1f
---

# Summary

{summary}

# What came out

Nothing that a page shows.

# Beyond the paper

## Which bodies?

The error is {{error}} % there, too. {{holds error < 2}}

@show ext_cells
"""


def study(root, error):
    points = dict.fromkeys(SUMMARY, "Words.")
    points["Results"] = "It is off by {error} %. {holds error < 2}\n\n* Found."
    summary = "\n\n".join(f"## {name}\n\n{text}" for name, text in points.items())
    article = root / abstracts.ARTICLES / "planar.md"
    article.parent.mkdir(parents=True)
    article.write_text(ARTICLE.format(summary=summary))
    results = root / abstracts.RUN / "planar"
    results.mkdir(parents=True)
    (results / "cells.csv").write_text(f"mu,error\n0.2,{error}\n")
    return results


def test_results_and_what_goes_beyond_are_a_page_text(tmp_path):
    results = study(tmp_path, 1.26)
    (results / "article.html").touch()
    abstracts.take_abstracts(tmp_path)
    assert abstracts.abstracts(tmp_path) == {
        "table_of_planar_abstract": "\n\nIt is off by 1.3 %.\n\n* Found.\n\n**Which bodies?**"
        "\n\nThe error is 1.3 % there, too.\n\n"
    }


def test_without_a_finished_run_an_abstract_stays(tmp_path):
    study(tmp_path, 1.26)
    kept = tmp_path / abstracts.ABSTRACTS
    kept.write_text("study,kind,text\nplanar,paragraph,as it was\n")
    abstracts.take_abstracts(tmp_path)
    assert abstracts.abstracts(tmp_path) == {"table_of_planar_abstract": "\n\nas it was\n\n"}
