"""Attributes, codes and marginal queries of each task of a survey, beside the paper's."""

from pathlib import Path

from genverify.model.domain import read_domain
from genverify.model.files import read_yaml
from genverify.model.tablefiles import neutral_frame
from genverify.report.pages import document, markdown_table
from genverify.run.jobs import Job, run
from studies.raprank.tables import survey_task_table


def main(job: Job) -> None:
    domains = {Path(path).name.split(".")[0]: read_domain(Path(path)).domain for path in job.input.domains}
    table = survey_task_table(domains, read_yaml(Path(job.input.paper))["tasks"])
    lead = "Ours are counted from the domain of the rows; codes: our columns, and numbers that give the paper's counts."
    text = document(
        "RAP-RANK: Table 1", job.params.about, [lead, markdown_table(list(table), table.to_numpy().tolist(), left=2)]
    )
    Path(job.output.readable).write_text(text)
    neutral_frame(table.assign(data=job.params.about)).to_csv(job.output.table, index=False)


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
