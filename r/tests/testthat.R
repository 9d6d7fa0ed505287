library(testthat)
library(genverify)
test_check("genverify")
