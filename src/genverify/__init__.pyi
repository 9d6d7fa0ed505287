"""The names of the front door, for type checkers."""

from genverify.attack.attack import attack_release as attack_release
from genverify.attack.likely import prior_of as prior_of
from genverify.attack.likely import probability as probability
from genverify.attack.tables import claims_frame as claims_frame
from genverify.attack.words.say import explain as explain
from genverify.checker.check import check_block
from genverify.core.claims import Claim as Claim
from genverify.core.describe import make_schema as make_schema
from genverify.core.describe import release_of as release_of
from genverify.core.domain import Column as Column
from genverify.core.domain import Domain as Domain
from genverify.core.predicates import Predicate as Predicate
from genverify.core.predicates import Rule as Rule
from genverify.core.queries import Query as Query
from genverify.core.release import Release as Release
from genverify.core.release import Schema as Schema
from genverify.core.release import make_release as make_release
from genverify.core.release import read_releases as read_releases
from genverify.core.release import read_schema as read_schema
from genverify.papers.cellbounds.frame import bound_cells as bound_cells

check = check_block
