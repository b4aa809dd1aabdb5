"""Tables are typeset and figures are drawn, from what the studies' rules computed; some in one process."""

from contactid.output.artefacts import artefact_files, drawn, typeset, typesettings

for study, rows in ARTEFACTS.items():
    folder = f"<results>/{study}"
    STUDY_TARGETS += artefact_files(rows, folder)
    tables = [one for one in rows if "tex" in one.files]

    rule:
        """Set the study's tables for a paper, printed numbers beside ours with their verdicts."""
        name:
            f"{study}_typeset"
        input:
            data=[f"{folder}/{one.place}.csv" for one in tables],
            checks=f"{folder}/checks.csv",
            published=packaged(f"workflow/resources/published/{study}.csv"),
            wording=packaged("workflow/resources/report/studies.yaml"),
        output:
            tables=typeset(tables, folder),
        log:
            f"<logs>/{study}_typeset.log",
        benchmark:
            f"<benchmarks>/{study}_typeset.tsv"
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1000,
            runtime=2,
        params:
            **call("contactid.output.typesetting:typeset"),
            study=study,
            described=typesettings(tables),
        script:
            "../call.py"

    drawable = [one for one in rows if one.draw]
    for number, start in enumerate(range(0, len(drawable), FIGURES_PER_JOB), 1):
        batch = drawable[start : start + FIGURES_PER_JOB]

        rule:
            """Draw some of the study's figures from their data; those of a job that fails are kept for the next try."""
            name:
                f"{study}_draw_{number}"
            input:
                data=computed(batch, folder),
                sources=FIGURE_SOURCES.get(study, []),
            output:
                drawn=drawn(batch, folder),
            log:
                f"<logs>/{study}_draw_{number}.log",
            benchmark:
                f"<benchmarks>/{study}_draw_{number}.tsv"
            priority: 1
            conda:
                "../../envs/environment.yaml"
            resources:
                mem_mb=1500,
                runtime=5,
            params:
                **draw(batch),
                kept=".snakemake/contactid_drawn",
            script:
                "../call.py"
