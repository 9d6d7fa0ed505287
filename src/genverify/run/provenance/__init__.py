"""What every result was made from, as the job records say; checked, told as a tree, and packed to be shared."""
