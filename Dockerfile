# A run's environment, from the lock of `make env`, with this repository in /opt/contactid (config/README.md):
#   docker build --tag contactid .
#   docker run --rm --volume "$PWD":/work contactid snakemake --snakefile /opt/contactid/Snakefile --cores 2
FROM python:3.11-slim-bookworm

# libgomp: pinocchio and the solvers link it, and bring none
RUN apt-get update && apt-get install --yes --no-install-recommends git libgomp1 make && rm -rf /var/lib/apt/lists/*
# the repository is root's and the user anybody: git would refuse to name the commit
RUN git config --system --add safe.directory /opt/contactid

WORKDIR /opt/contactid
# apart from the rest, so that an edit of the code installs nothing again
COPY Makefile ./
COPY envs envs/
RUN make env LOCKS=requirements
COPY . ./
# the command `contactid`, by the package's files as they lie here
RUN .venv/bin/python -m pip install --no-deps --no-build-isolation --no-index --editable .

ENV PATH=/opt/contactid/.venv/bin:$PATH
# a user (docker run --user) that the image doesn't know has a name, and a place for what Snakemake and numba keep
ENV USER=contactid HOME=/tmp
WORKDIR /work
CMD ["contactid", "--help"]
