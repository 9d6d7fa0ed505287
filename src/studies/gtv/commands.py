"""The command of generate-then-verify."""

from genverify.run.cli.shell import Group

LINES = {"excluded": "list the counts of records of a block that cannot occur"}
COMMANDS = [Group("studies.gtv.impossible_counts:add_parser", LINES, study=True)]
