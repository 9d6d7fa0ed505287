"""How a study is set, run, recorded and audited."""
