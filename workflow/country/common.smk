"""
Reads: the sections microdata and sample of config.yaml.
Writes: nothing; what the stages of the country share with those of all studies: its files, and the batches of sampled blocks.
"""

COUNTRY = sorted(
    str(path)
    for path in Path(STUDY.microdata.synthetic.country).iterdir()
    if path.suffix in (".yaml", ".csv") and path != Path(STUDY.persons.synthetic)
)
BATCHES = [f"{batch:03d}" for batch in range(STUDY.sample.batches)]
