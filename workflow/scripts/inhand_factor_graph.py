"""Rule inhand_factor_graph: the data of figure 3."""

from typing import Any

from contactid.inhand.factor_graph import FactorWeights
from contactid.inhand.factor_graph_figure_data import write_factor_graph
from contactid.run.job import job


def main(*, figure: str, weights: dict[str, Any]) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    write_factor_graph(figure, FactorWeights(**weights))


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(figure=smk.output.figure, weights=smk.params.weights)
