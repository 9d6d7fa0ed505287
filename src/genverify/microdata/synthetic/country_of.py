"""Draw the country: one table of housing units per state."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from genverify.core.arraytypes import Ints
from genverify.core.domain import DomainFile
from genverify.microdata.settings import Synthetic
from genverify.microdata.synthetic.country import Country
from genverify.microdata.synthetic.draw import draw_types
from genverify.microdata.synthetic.fit import fit
from genverify.microdata.synthetic.model import Model, build_model
from genverify.microdata.synthetic.neighbourhoods import neighbourhoods
from genverify.microdata.synthetic.places import Places, geoids, lay_out, share_out, vacant_units


def synthesize(settings: Synthetic, seed: int, domain_file: DomainFile, country: Country) -> Iterator[pa.Table]:
    """
    The housing units of each state, in the order of FIPS codes: `block`, then the columns of the domain; sorted by block.

    Each state has its own random streams, so a state does not depend on how many were drawn before it.
    """
    model, margins = build_model(domain_file, country, settings.likeness, settings.homogeneity)
    streams = {s.fips: np.random.SeedSequence(seed, spawn_key=(int(s.fips),)).spawn(4) for s in country.states}
    states = []
    for state, households in zip(country.states, share_out(settings.households, country.states), strict=True):
        places = lay_out(state, households, country, np.random.default_rng(streams[state.fips][0]))
        states.append(neighbourhoods(model.neighbours, places, streams[state.fips][1]))
    fitted, neighbourhoods_fitted = fit(model, margins, states)
    for drawn in neighbourhoods_fitted:
        for_households, for_vacant = streams[drawn.places.state.fips][2:]
        types = draw_types(fitted, drawn, np.random.default_rng(for_households))
        vacant = vacant_units(drawn.places, country, np.random.default_rng(for_vacant))
        yield _table(domain_file, fitted, drawn.places, types, vacant)


def _table(
    file: DomainFile, model: Model, places: Places, households: tuple[Ints, Ints], vacant: tuple[Ints, Ints]
) -> pa.Table:
    """The units of a state, sorted by block, in a block the occupied ones first."""
    block = np.concatenate([np.repeat(np.arange(places.sizes.size), places.sizes), vacant[0]])
    order = np.argsort(block, kind="stable")
    occupied = {name: codes[households[0]] for name, codes in model.types.profiles.items()}
    occupied |= {name: codes[households[1]] for name, codes in model.types.traits.items()}
    columns = {"block": pa.array(geoids(places), pa.string()).take(pa.array(block[order]))}
    for name in file.domain.names:
        codes = np.zeros(block.size, dtype=np.int8)
        if name in occupied:
            codes[: households[0].size] = occupied[name]
        else:
            codes[households[0].size :] = vacant[1]
        columns[name] = pa.array(codes[order])
    return pa.table(columns)
