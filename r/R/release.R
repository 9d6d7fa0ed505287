# The verbs of a release: records of R become columns of JSON, the API of Python answers, frames come back as CSV.

gv_release_from_frame <- function(records, tables, bins = NULL, suppress = NULL, name = "data") {
  if (!is.data.frame(records) || !nrow(records)) stop("records: give a data frame with a row per record", call. = FALSE)
  given <- list(tables = unname(lapply(as.list(tables), as.list)), bins = lapply(as.list(bins), as_edges), suppress = suppress,
                name = name)
  release <- structure(list(columns = as_json(columns_of(records)), given = Filter(length, given)), class = "gv_release")
  release$text <- jsonlite::fromJSON(verb(release, "describe", list()))
  release
}

print.gv_release <- function(x, ...) {
  cat(x$text, "\n", sep = "")
  invisible(x)
}

gv_attack <- function(release, min_k = 1, max_k = NULL) {
  found <- read_result(text = verb(release, "attack", Filter(length, list(min_k = min_k, max_k = max_k))))
  found[c("k", "m")] <- lapply(found[c("k", "m")], as.integer)
  found
}

gv_probability <- function(release, ..., m = 1, sample = NULL) {
  arguments <- list(values = list(...), m = m)
  if (!is.null(sample)) arguments$sample <- columns_of(sample)
  structure(jsonlite::fromJSON(verb(release, "probability", arguments)), class = "gv_probability")
}

print.gv_probability <- function(x, ...) {
  cat(x$text, "\n", sep = "")
  invisible(x)
}

gv_what_if <- function(release, protections) {
  found <- read_result(text = verb(release, "what_if", list(protections = unname(protections))))
  utils::type.convert(found, as.is = TRUE)
}

gv_cell_bounds <- function(release) {
  found <- read_result(text = verb(release, "bounds", list()))
  found[c("lower", "upper")] <- lapply(found[c("lower", "upper")], whole)
  found$known_exactly <- found$known_exactly == "True"
  found
}

# What a verb of Python says about a release; its error is an error here.
verb <- function(release, name, arguments) {
  if (!inherits(release, "gv_release")) stop("release: make one with gv_release_from_frame", call. = FALSE)
  need_python()
  found <- as.character(unlist(bridge()$verb(name, release$columns, as_json(release$given), as_json(arguments))))
  if (found[1] != "0") fail(list(error = found[3]))
  found[2]
}

# A data frame as columns that keep what R knows of them: the levels of factors, in their order.
columns_of <- function(frame) {
  lapply(frame, function(own) {
    if (is.factor(own)) list(values = as.character(own), levels = I(levels(own))) else list(values = own)
  })
}

# Edges stay a list, a number of bins stays a number.
as_edges <- function(bins) if (length(bins) > 1) as.list(bins) else bins

as_json <- function(values) {
  as.character(jsonlite::toJSON(values, auto_unbox = TRUE, digits = NA, na = "null", null = "null"))
}
