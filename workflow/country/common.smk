"""
Reads: the sections microdata and sample of config.yaml.
Writes: nothing; what the stages of the country share with those of all studies: its files, and the batches of sampled blocks.
"""

from studies.country.national import country_file, country_files
from studies.country.sample import number_of_batches

COUNTRY_FOLDER = Path(STUDY.microdata.synthetic.country)
COUNTRY = [str(path) for path in country_files(COUNTRY_FOLDER)]
BATCHES = [f"{batch:03d}" for batch in range(number_of_batches(STUDY.sample))]
