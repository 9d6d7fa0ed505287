"""The built-in synthetic microdata: a whole country in miniature, drawn from a seed."""

from genverify.microdata.synthetic.answers import AnswerShares, answer_shares, calibrate
from genverify.microdata.synthetic.country import Country, read_country
from genverify.microdata.synthetic.country_of import synthesize

__all__ = ["AnswerShares", "Country", "answer_shares", "calibrate", "read_country", "synthesize"]
