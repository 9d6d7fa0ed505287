"""A study as a Workflow Run RO-Crate: workflow, settings, figures, tables and job records, in a form that others read."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from rocrate.model.computationalworkflow import ComputationalWorkflow  # type: ignore[import-untyped]
from rocrate.model.contextentity import ContextEntity  # type: ignore[import-untyped]
from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

from genverify.model.errors import DataError
from genverify.run.jobs import digest
from genverify.run.provenance.records import Chain, Record, settings_in, short, without_places

TERMS = "https://w3id.org/ro/terms/workflow-run/context"
PROFILES = {"process": "Process Run Crate", "workflow": "Workflow Run Crate", "provenance": "Provenance Run Crate"}
PROFILE_VERSION = "0.6"
BEGINNING_OF_ZIP = (1980, 1, 1, 0, 0, 0)


class _Workflow(ComputationalWorkflow):  # type: ignore[misc]
    """A workflow that tells its steps."""

    TYPES = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]  # noqa: RUF012  (rocrate slices it)


def write_crate(path: Path, chain: Chain, files: Sequence[str], texts: Mapping[str, str], about: Mapping[str, str]) -> None:
    """The crate of a chain as a zip file, the same bytes for the same content: results and `files`, `texts`, job records."""
    with TemporaryDirectory() as folder:
        made = Path(folder)
        records = {job.path: Path(job.path).read_text() for job in chain.jobs}
        for name, text in {**records, **texts}.items():
            (made / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
            (made / "texts" / name).write_text(without_places(text))
        results = [output for record in chain.results.values() for output in record.outputs]
        inside = {name: Path(name) for name in [*files, *results]}
        inside |= {name: made / "texts" / name for name in {**records, **texts}}
        _Crate(chain, inside, about).crate.write(made / "crate")
        with ZipFile(path, "w") as archive:  # sorted and without times
            for file in sorted(file for file in (made / "crate").rglob("*") if file.is_file()):
                info = ZipInfo(file.relative_to(made / "crate").as_posix(), BEGINNING_OF_ZIP)
                info.compress_type, info.external_attr = ZIP_DEFLATED, 0o644 << 16
                archive.writestr(info, file.read_bytes())


class _Crate:
    def __init__(self, chain: Chain, inside: Mapping[str, Path], about: Mapping[str, str]) -> None:
        self.chain, self.inside, self.about = chain, dict(sorted(inside.items())), about
        self.crate: Any = ROCrate()
        self.digests = {path: value for job in chain.jobs for path, value in {**job.inputs, **job.outputs}.items()}
        root = self.crate.root_dataset
        root["name"], root["description"] = self.about["name"], self.about["description"]
        root["license"] = self.context(self.about["license"], "CreativeWork", name=self.about["licence_name"])
        self.crate.metadata.extra_contexts.append(TERMS)
        ends = sorted(_end_of(job) for job in self.chain.jobs)
        root["datePublished"] = ends[-1]
        for level, name in PROFILES.items():
            profile = f"https://w3id.org/ro/wfrun/{level}/{PROFILE_VERSION}"
            root.append_to("conformsTo", self.context(profile, "CreativeWork", name=name, version=PROFILE_VERSION))
        main = self.about["workflow"]
        snakemake = str(self.chain.jobs[-1].text["versions"].get("snakemake", "unknown"))
        kind = {"main": True, "lang": "snakemake", "lang_version": snakemake, "cls": _Workflow}
        self.workflow = self.crate.add_workflow(str(self.inside[main]), main, **kind)
        self.workflow["name"] = main
        self.engine = self.context("#snakemake", "SoftwareApplication", name="Snakemake", softwareVersion=snakemake)
        scripts = {_script_of(job) for job in self.chain.jobs}
        for name, path in self.inside.items():
            if name != main:
                kinds = ["File", "SoftwareSourceCode"] if name in scripts else "File"
                properties = {"@type": kinds, "name": name, "sha256": digest(path), "contentSize": str(path.stat().st_size)}
                self.crate.add_file(str(path), name, properties=properties)
        self._add_runs(ends[-1])

    def _add_runs(self, end: str) -> None:
        steps: dict[str, Any] = {}
        controls = []
        for job in self.chain.jobs:
            tool = self.entity(_script_of(job))
            if job.rule not in steps:
                steps[job.rule] = self.context(f"#step/{job.rule}", "HowToStep", position=str(len(steps)), workExample=tool)
                self.workflow.append_to("hasPart", tool)
                self.workflow.append_to("step", steps[job.rule])
            action = self._add_job(job, tool)
            name = job.path.removesuffix(".json")
            controls.append(self.context(f"#control/{name}", "ControlAction", instrument=steps[job.rule], object=action))
        results = [self.entity(name) for record in self.chain.results.values() for name in record.outputs]
        raw = [self.entity(name) for name in self.chain.raw] + [self.entity(self.about["settings"])]
        started = min(str(job.text["started"]) for job in self.chain.jobs)
        run = self.context("#run", "CreateAction", name=f"Run of {self.about['name']}", instrument=self.workflow, object=raw,
                           result=list(dict.fromkeys(results)), startTime=started, endTime=end)  # fmt: skip
        self.crate.root_dataset.append_to("mentions", run)
        engine = {"name": "Run of Snakemake", "instrument": self.engine, "object": controls, "result": run}
        self.context("#engine", "OrganizeAction", **engine)

    def _add_job(self, job: Record, tool: Any) -> Any:
        settings = "; ".join(f"{name}: {short(value)}" for name, value in settings_in(job).items())
        outermost = [path for path in job.outputs if not any(path.startswith(f"{other}{os.sep}") for other in job.outputs)]
        action = self.context(
            f"#job/{job.path.removesuffix('.json')}",
            "CreateAction",
            name=" ".join([job.rule, *(f"{name}={value}" for name, value in job.wildcards.items())]),
            description=without_places(f"settings: {settings or 'none'}"),
            instrument=tool,
            object=[self.entity(path) for path in job.inputs],
            result=[self.entity(path) for path in outermost] + [self.entity(job.path)],
            startTime=str(job.text["started"]),
            endTime=_end_of(job),
        )
        self.crate.root_dataset.append_to("mentions", action)
        return action

    def entity(self, path: str) -> Any:
        """A file of the crate; a file that is only spoken of has a name and a digest."""
        if path in self.inside:
            return self.crate.dereference(quote(path))
        name = os.path.basename(path) if os.path.isabs(path) else path
        known = self.crate.dereference(f"#{quote(name)}")
        properties = {"sha256": self.digests[path]} if path in self.digests else {}
        return known or self.context(f"#{quote(name)}", "CreativeWork", name=name, **properties)

    def context(self, identifier: str, kind: str, **properties: Any) -> Any:
        """Something that the crate speaks of and does not hold."""
        entity = self.crate.add(ContextEntity(self.crate, identifier, properties={"@type": kind}))
        for name, value in properties.items():
            entity[name] = value
        return entity


def _script_of(job: Record) -> str:
    return next(path for path in job.code if Path(path).name == f"{job.rule}.py" and "genverify" not in Path(path).parts)


def _end_of(job: Record) -> str:
    started = datetime.fromisoformat(str(job.text["started"]))
    return (started + timedelta(seconds=job.seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def check_crate(path: Path) -> Counter[str]:
    """Read a crate back: every file there with its digest, every reference known, every run with its tool."""
    with TemporaryDirectory() as folder:
        with ZipFile(path) as archive:
            archive.extractall(folder)
        crate: Any = ROCrate(folder)
        known = {entity.id for entity in crate.get_entities()}
        total: Counter[str] = Counter()
        for entity in crate.get_entities():
            total.update(_list(entity.type))
            about = entity.as_jsonld()
            for name, one in ((name, one) for name, value in about.items() for one in _list(value)):
                target = one.get("@id", "") if isinstance(one, dict) else ""
                if target and target not in known and not target.startswith("https:"):
                    raise DataError(f"{path}: {entity.id} names {target!r} as its {name}, and nothing there is called so")
            if "File" in _list(entity.type) and about.get("sha256") not in (None, digest(Path(folder, entity.id))):
                raise DataError(f"{path}: {entity.id} is not what the crate says")
    workflow = crate.mainEntity
    if workflow is None or not total["CreateAction"] or "ComputationalWorkflow" not in workflow.type:
        raise DataError(f"{path}: a crate without a workflow, or without a run of it")
    return total


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
