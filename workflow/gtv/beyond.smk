"""
Reads: what the studies below read; their files say it.
Writes: the results of studies around generate-then-verify that its paper does not have, each a target on request and no part of `all`.
"""


include: "protected.smk"
include: "zeros.smk"
include: "generators.smk"
include: "excluded.smk"
include: "probability.smk"
include: "tracts.smk"
