"""The command of the built-in country and the census files."""

from genverify.run.cli.shell import Group

COMMANDS = [
    Group("studies.country.ppmf:add_parser", {"check-ppmf": "check a PPMF file against the layout that is read"}, study=True)
]
