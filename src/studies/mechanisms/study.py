"""What the papers on randomized response and the matrix mechanism contribute."""

from genverify.run.registry import Study

STUDY = Study(settings={"privacy": ".settings:Privacy"}, folders=("privacy",))
