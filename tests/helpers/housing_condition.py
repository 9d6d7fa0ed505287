"""A condition of housing that protects nothing: what tests change, they name."""

from studies.housing.settings import Condition

UNPROTECTED = Condition(
    swap=0.0,
    swap_among="properties",
    swap_hud=False,
    noise="none",
    rho=None,
    noise_hud=False,
    reading="exact",
    top=10,
    blocks=99,
)
