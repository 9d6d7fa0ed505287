"""The question of withheld zeros: why the paper's Table 5 loses what an exact attack keeps."""
