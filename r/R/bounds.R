gv_bounds <- function(tables, given = NULL, response = NULL, total = NULL, decimals = NULL, rounding = NULL, prior = NULL,
                      marginals = NULL, count = NULL, show = c("bounds", "totals", "disclosure"), seconds = 120) {
  show <- match.arg(show)
  folder <- tempfile("genverify")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  joined <- function(names) if (is.null(names)) NULL else paste(names, collapse = ",")
  words <- c("bounds", write_tables(tables, folder), option("given", joined(given)), option("response", joined(response)),
             option("total", if (is.null(total)) NULL else number(total)), option("decimals", decimals),
             option("rounding", rounding), option("count", count),
             option("marginals", vapply(as.list(marginals), joined, "")),
             prior_words(prior), "--show", show, "--seconds", number(seconds))
  found <- answered(words)
  if (found$status != 0) fail(found)
  if (nzchar(found$error)) message(trimws(found$error))
  typed(read_result(text = found$out))
}

# What is known beforehand: a data frame with row, columns (C1,C2), lower and upper; NA for no bound.
prior_words <- function(prior) {
  if (is.null(prior)) return(character())
  ends <- function(values) ifelse(is.na(values), "-", vapply(values, number, ""))
  as.vector(rbind("--prior", as.character(prior$row), as.character(prior$columns), ends(prior$lower), ends(prior$upper)))
}

# Columns of numbers as numbers; labels stay texts.
typed <- function(frame) {
  numbers <- intersect(names(frame), c("lower", "upper", "multiplier", "total", "least_total", "greatest_total",
                                       "reduced_sum", "least_multiplier", "greatest_multiplier"))
  frame[numbers] <- lapply(frame[numbers], whole)
  if ("disclosed" %in% names(frame)) frame$disclosed <- frame$disclosed == "True"
  frame
}
