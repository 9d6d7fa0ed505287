"""The command of generate-then-verify."""

from genverify.run.cli.shell import Group

LINES = {"excluded": "say which counts of records of a block cannot exist"}
COMMANDS = [Group("studies.gtv.impossible_counts:add_parser", LINES, study=True)]
