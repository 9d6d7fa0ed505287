"""The commands of the paper on subsidized housing."""

from genverify.run.cli.shell import Group

CHECK = {"check-housing": "check the proofs of the blocks that must hold a violation"}
ESTIMATE = {"estimate": "estimate from surveys what the built-in country is made of"}
COMMANDS = [
    Group("studies.housing.check:add_parser", CHECK, study=True),
    Group("studies.housing.estimate_command:add_parser", ESTIMATE, study=True),
]
