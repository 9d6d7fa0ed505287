# The study with everything it needs, from the same hashed lock as `make env`:
#   docker build -t genverify .
#   docker run --name study genverify snakemake figures/fig3.pdf && docker cp study:/genverify/figures .
FROM python:3.13-slim

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore

RUN useradd --create-home genverify \
    && install --directory --owner=genverify --group=genverify /genverify
WORKDIR /genverify

# before the rest of the repository, so that an edit of the code does not install everything again
COPY envs/requirements.lock envs/requirements.lock
RUN pip install --require-hashes -r envs/requirements.lock

COPY --chown=genverify:genverify . .
# editable, as with make: job records name the files of src/, which the audit reads again
RUN pip install --no-deps --no-build-isolation -e .

USER genverify
CMD ["snakemake"]
