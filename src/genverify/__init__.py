"""genverify: what must be true of the people behind published tables, whatever the private data were?"""
