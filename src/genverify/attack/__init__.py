"""Generate, verify, explain and weigh claims about a release."""
