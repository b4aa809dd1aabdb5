"""Figures are drawn from their data files, some in one process."""

for study, rows in ARTEFACTS.items():
    STUDY_TARGETS += computed(rows, f"<results>/{study}") + drawn(
        rows, f"<results>/{study}"
    )
    drawable = [one for one in rows if one.draw]
    for number, start in enumerate(range(0, len(drawable), FIGURES_PER_JOB), 1):
        batch = drawable[start : start + FIGURES_PER_JOB]

        rule:
            name:
                f"{study}_draw_{number}"
            input:
                data=[file for file in computed(batch, f"<results>/{study}")],
                sources=FIGURE_SOURCES.get(study, []),
            output:
                drawn=drawn(batch, f"<results>/{study}"),
            log:
                f"<logs>/{study}_draw_{number}.log",
            benchmark:
                f"<benchmarks>/{study}_draw_{number}.tsv"
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
