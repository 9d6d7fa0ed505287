patients <- function(...) data.frame(ward = c("North", "South", "Total"), ..., check.names = FALSE)
suppressed <- c("*" = "suppressed")
python <- function() skip_if_not(gv_available(), "the Python package genverify is not found")

test_that("suppressed cells that follow from the others are known exactly, with the cells to suppress", {
  python()
  table <- patients(young = c("*", "7", "10"), old = c("5", "4", "9"), Total = c("8", "11", "19"))
  found <- gv_disclose(table, symbols = suppressed)
  cell <- found$cells[found$cells$published == "*", ]
  expect_equal(c(cell$lower, cell$upper), c(3, 3))
  expect_true(cell$known_exactly && cell$ends_attained && cell$accepted)
  expect_false(found$safe)
  expect_equal(found$counts[["suppressed_known_exactly"]], 1)
  expect_gt(length(found$suppress), 0)
  expect_output(print(found), "1 of your 1 suppressed cells are known exactly")
  expect_identical(as.data.frame(found), found$cells)
})

test_that("NA is a blank cell that has to be explained", {
  python()
  table <- patients(young = c(NA, 7, 10), old = c(NA, NA, 9), Total = c(8, 11, 19))
  expect_error(gv_disclose(table), "what do these symbols mean: blank")
  found <- gv_disclose(table, marks = c(blank = "1-9"))
  hidden <- found$cells[found$cells$published == "", ]
  expect_equal(hidden$lower, c(3, 5, 4))
  expect_true(all(hidden$known_exactly))
})

test_that("rounded tables, a table of R with its margins, and several tables", {
  python()
  counts <- as.table(matrix(c(3, 6, 9, 0), 2, dimnames = list(sex = c("f", "m"), smokes = c("yes", "no"))))
  found <- gv_disclose(stats::addmargins(counts), rule = "random=3")
  expect_equal(nrow(found$cells), 9)
  expect_equal(found$counts[["other_unclear"]], 9)
  inner <- found$cells[grepl("sex=f, smokes=yes", found$cells$cell, fixed = TRUE), ]
  expect_true(inner$lower <= 3 && inner$upper >= 3 && inner$upper <= 5)
  both <- gv_disclose(list(one = patients(a = c("1", "*", "3"), b = c("2", "2", "4")), two = patients(count = c(3, 4, 7))),
                      marks = suppressed)
  expect_equal(both$cells$lower[both$cells$published == "*"], 2)
})

test_that("large numbers stay whole, and texts that look like formulas come back as they are", {
  python()
  table <- data.frame(who = c("-a", "b", "Total"), n1 = c(100000, 2e6, 2100000), n2 = c("*", "1", "2"))
  found <- gv_disclose(table, marks = suppressed)
  expect_true("columns=n1, who=-a" %in% found$cells$cell)
  expect_equal(found$cells$lower[found$cells$cell == "columns=n1, who=-a"], 1e5)
})

test_that("results are kept where asked for, and their proofs can be checked again", {
  python()
  out <- tempfile("audit")
  table <- patients(young = c("*", "7", "10"), old = c("5", "4", "9"))
  gv_disclose(table, marks = suppressed, out = out, search_seconds = 0)
  expect_true(all(file.exists(file.path(out, c("report.html", "cells.csv", "proofs.jsonl.gz", "system.json.gz")))))
  expect_message(gv_check(out), "all proofs right")
  stored <- gzfile(file.path(out, "proofs.jsonl.gz"))
  lines <- readLines(stored)
  close(stored)
  forged <- gzfile(file.path(out, "proofs.jsonl.gz"), "w")
  writeLines(sub('"value":3', '"value":2', lines), forged)
  close(forged)
  expect_error(gv_check(out), "is said, but")
})

test_that("bounds from conditionals and from marginals", {
  python()
  half <- data.frame(age = c("old", "young"), yes = c("1/2", "1/3"), no = c("1/2", "2/3"))
  found <- gv_bounds(half, given = "rows", total = 10)
  expect_equal(found$lower, c(2, 2, 2, 4))
  expect_equal(found$upper, c(2, 2, 2, 4))
  expect_equal(names(gv_bounds(half, given = "rows", total = 10, show = "totals")), c("row", "multiplier", "total"))
  people <- data.frame(sex = c("f", "f", "m"), age = c("old", "young", "old"), smokes = c("yes", "no", "no"))
  cells <- gv_bounds(people, marginals = list(c("sex", "age"), c("age", "smokes")))
  expect_equal(names(cells), c("sex", "age", "smokes", "lower", "upper", "exact"))
  expect_true(all(cells$lower <= cells$upper))
  expect_equal(sum(cells$upper[cells$age == "young"]), 1)
})

test_that("mistakes are said in one sentence", {
  python()
  expect_error(gv_disclose(patients(a = c("1", "2", "3")), fail_on = "nonsense"), "--fail-on nonsense")
  expect_error(gv_disclose(list()), "give a data frame")
  expect_error(gv_disclose(matrix(1:4, 2)), "names of its rows and columns")
  expect_error(gv_disclose(patients(a = c("1", "2", "-3"))), "is negative|neither a number nor a mark|no table with counts")
  wrong <- gv_disclose(patients(a = c("1", "1", "3"), b = c("2", "2", "4"))) # sums that cannot be are left out, and named
  expect_match(wrong$left_out, "contradict")
  expect_false(wrong$safe)
  expect_error(gv_bounds(data.frame(age = "old", yes = "1/2", no = "1/2"), given = "rows"), "total")
  expect_error(gv_check(tempfile()), "holds no results")
})
