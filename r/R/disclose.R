gv_disclose <- function(tables, symbols = NULL, rule = NULL, total = NULL, fact = NULL, inside = NULL, hierarchy = NULL,
                        fail_on = "exact", seconds = 120, search_seconds = 60, out = NULL, marks = NULL) {
  # stored results are checked against their tables, so that these lie beside them
  folder <- if (is.null(out)) tempfile("genverify") else paste0(normalizePath(out, mustWork = FALSE), "_tables")
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  if (is.null(out)) on.exit(unlink(folder, recursive = TRUE))
  results <- if (is.null(out)) "" else normalizePath(out, mustWork = FALSE)
  listed <- list(symbol = pairs(c(symbols, marks)), rule = as.list(rule), total = pairs(total), fact = as.list(fact),
                 inside = pairs(inside), hierarchy = pairs(hierarchy))
  options <- c(Filter(length, listed), list(fail_on = fail_on, seconds = seconds, search_seconds = search_seconds))
  found <- disclosed(write_tables(tables, folder), jsonlite::toJSON(options, auto_unbox = TRUE, digits = NA), results)
  if (found$status != 0) fail(found)
  disclosure(found, if (is.null(out)) NULL else results)
}

# What was found, as R holds it.
disclosure <- function(found, out) {
  answer <- jsonlite::fromJSON(found$answer, simplifyVector = FALSE)
  cells <- read_result(text = found$out)
  cells$lower <- whole(cells$lower)
  cells$upper <- whole(cells$upper)
  cells$known_exactly <- cells$known_exactly == "True"
  cells$ends_attained <- cells$ends_attained == "True"
  cells$accepted <- TRUE # genverify reports nothing before its checker has accepted every proof
  cells$place <- sub("^.*[/\\\\](?=[^/\\\\]+\\.csv, )", "", cells$place, perl = TRUE)
  columns <- c("table", "cell", "published", "lower", "upper", "status", "known_exactly", "ends_attained",
               "accepted", "proof", "place")
  structure(list(cells = cells[columns], counts = unlist(answer[c("printed_cells", "suppressed", "suppressed_known_exactly",
                                                                  "other_unclear", "other_known_exactly", "unsafe")]),
                 safe = isTRUE(answer$safe), fail_on = answer$fail_on, suppress = as.character(unlist(answer$suppress)),
                 left_out = as.character(unlist(answer$left_out)), limit = as.character(answer$limit), out = out),
            class = "gv_disclosure")
}

print.gv_disclosure <- function(x, ...) {
  n <- x$counts
  if (n["suppressed"] > 0) {
    cat(n["suppressed_known_exactly"], " of your ", n["suppressed"], " suppressed cells are known exactly.\n", sep = "")
  }
  if (n["other_unclear"] > 0) {
    cat(n["other_known_exactly"], " of ", n["other_unclear"], " rounded counts are known exactly.\n", sep = "")
  }
  if (n["suppressed"] + n["other_unclear"] == 0) cat("All ", n["printed_cells"], " cells are printed exactly.\n", sep = "")
  if (length(x$suppress)) cat("Also suppress: ", paste(x$suppress, collapse = "; "), "\n", sep = "")
  if (length(x$left_out)) cat("Left out: ", paste(x$left_out, collapse = "; "), "\n", sep = "")
  if (nzchar(x$limit)) {
    cat("Note: ", x$limit, ". All intervals hold, but some may be wider than necessary (try more seconds).\n", sep = "")
  }
  open <- x$cells[x$cells$status != "printed", c("cell", "published", "lower", "upper", "status")]
  if (nrow(open)) print(open, row.names = FALSE, ...)
  invisible(x)
}

as.data.frame.gv_disclosure <- function(x, ...) x$cells

gv_check <- function(folder) {
  found <- answered(c("disclose", "--check", "--out", normalizePath(folder, mustWork = FALSE), folder))
  if (found$status != 0) fail(found)
  message(trimws(found$out))
  invisible(TRUE)
}
