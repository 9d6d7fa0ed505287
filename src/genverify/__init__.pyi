"""The names of the API, for type checkers."""

from genverify.api import AttackResult as AttackResult
from genverify.api import Release as Release
from genverify.api import attack as attack
from genverify.api import attack_release as attack_release
from genverify.api import make_release as make_release
from genverify.api import release_of as release_of
from genverify.attack.explain import explain as explain
from genverify.attack.probability import prior_from_sample as prior_from_sample
from genverify.attack.probability import prior_of as prior_of
from genverify.attack.probability import probability as probability
from genverify.attack.verify import claims_frame as claims_frame
from genverify.bounds.bounds_command import bound_cells as bound_cells
from genverify.checker.record_proofs import check_block
from genverify.disclosure.sources import disclose as disclose
from genverify.disclosure.sources import protect_tables as protect_tables
from genverify.disclosure.sources import read as read
from genverify.model.claims import Claim as Claim
from genverify.model.domain import Column as Column
from genverify.model.domain import Domain as Domain
from genverify.model.domain import Predicate as Predicate
from genverify.model.domain import Rule as Rule
from genverify.model.query import Query as Query
from genverify.model.release import Schema as Schema
from genverify.model.release import make_schema as make_schema
from genverify.model.release import read_releases as read_releases
from genverify.model.release import read_schema as read_schema

check = check_block
__version__: str
