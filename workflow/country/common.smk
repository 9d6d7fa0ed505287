"""
Reads: the sections microdata and sample of config.yaml.
Writes: nothing; what the stages of the country share with those of all studies: its files, and the batches of sampled blocks.
"""

from studies.country.people import country_file, country_files
from studies.country.sample import parts_of

COUNTRY_FOLDER = Path(STUDY.microdata.synthetic.country)
COUNTRY = [str(path) for path in country_files(COUNTRY_FOLDER)]
FIRST_BLOCKS = "results/sample/blocks.parquet"
# the first part is what the study began with; each other one is a design that was added, with jobs of its own
DEALT = parts_of(STUDY.sample)
FIRST_PART = next(iter(DEALT.values()))
BATCHES = [batch for part in DEALT.values() for batch in part.batches]
PART_OF = {batch: name for name, part in DEALT.items() for batch in part.batches}
SAMPLES = {
    name: f"results/sample/designs/{name}.parquet" if place else FIRST_BLOCKS
    for place, name in enumerate(DEALT)
}
# the blocks of all designs
SAMPLE = list(SAMPLES.values()) if len(SAMPLES) > 1 else FIRST_BLOCKS


def part_of_design(wildcards):
    """The settings of the sample that an added design needs."""
    return DEALT[wildcards.design].sample.model_dump()


def first_batch_of_design(wildcards):
    """The number of the first batch of an added design."""
    return int(DEALT[wildcards.design].batches[0])


def earlier_samples(wildcards):
    """The blocks of the parts before an added design, which have their own batches."""
    return list(SAMPLES.values())[: list(SAMPLES).index(wildcards.design)]


def batches_of_part(wildcards):
    """The file that says which blocks are in a batch: that of its part."""
    blocks = SAMPLES[PART_OF[wildcards.batch]]
    if blocks == FIRST_BLOCKS:
        return "results/sample/batches.parquet"
    return blocks.replace(".parquet", ".batches.parquet")
