"""The command of RAP-RANK."""

from genverify.run.cli.shell import Group

LINES = {"estimate-persons": "a model of synthetic persons from person files of a survey"}
COMMANDS = [Group("studies.raprank.survey_model:add_parser", LINES, study=True)]
