"""One self-contained HTML page about a run.

What a run left on disk is collected into plain data (:mod:`contactid.review.report.collect`) and
set as a page (:mod:`contactid.review.report.page`); nothing is computed but counts, deviations and
medians.
"""
