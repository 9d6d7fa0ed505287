# Tables of R as CSV files that genverify reads.

# A named list of data frames out of whatever holds tables.
as_tables <- function(tables) {
  if (is.data.frame(tables) || is.table(tables) || is.matrix(tables)) tables <- list(table = tables)
  if (!is.list(tables) || !length(tables)) {
    stop("tables: give a data frame, a table, a matrix, a list of them, or paths of files", call. = FALSE)
  }
  if (is.null(names(tables))) names(tables) <- paste0("table", seq_along(tables))
  empty <- names(tables) == ""
  names(tables)[empty] <- paste0("table", seq_along(tables))[empty]
  if (anyDuplicated(names(tables))) stop("tables: two tables have one name: ", names(tables)[anyDuplicated(names(tables))],
                                         call. = FALSE)
  Map(as_frame, tables, names(tables))
}

# One table as a data frame of texts: labels first, then the counts.
as_frame <- function(table, name) {
  if (is.table(table) && length(dim(table)) != 2) table <- as.data.frame(table, stringsAsFactors = FALSE)
  if (is.matrix(table) || is.table(table)) table <- grid_of(table)
  if (!is.data.frame(table)) stop("table ", name, ": is not a data frame, table or matrix", call. = FALSE)
  if (!nrow(table) || ncol(table) < 2) {
    stop("table ", name, ": needs a column of labels, a column of counts, and rows", call. = FALSE)
  }
  frame <- as.data.frame(lapply(table, texts), stringsAsFactors = FALSE)
  names(frame) <- names(table)
  frame
}

# A matrix with its labels: those of the rows come first, under the names of both dimensions where they have some.
grid_of <- function(table) {
  labels <- dimnames(table)
  if (is.null(labels) || is.null(labels[[1]]) || is.null(labels[[2]])) {
    stop("a matrix needs names of its rows and columns: they are the labels", call. = FALSE)
  }
  corner <- if (is.null(names(labels))) "rows" else paste(names(labels), collapse = "/")
  values <- as.data.frame(unclass(table), stringsAsFactors = FALSE)
  frame <- cbind(labels[[1]], values, stringsAsFactors = FALSE)
  names(frame) <- c(corner, labels[[2]])
  rownames(frame) <- NULL
  frame
}

# Values as texts: whole numbers in full, NA as a blank.
texts <- function(values) {
  own <- if (is.numeric(values)) vapply(values, number, "") else as.character(values)
  own[is.na(values)] <- ""
  own
}

# The tables as files of a folder; paths stay as they are.
write_tables <- function(tables, folder) {
  if (is.character(tables)) return(normalizePath(tables, mustWork = TRUE))
  frames <- as_tables(tables)
  paths <- file.path(folder, paste0(gsub("[^A-Za-z0-9_-]", "_", names(frames)), ".csv"))
  if (anyDuplicated(paths)) {
    stop("tables: names must differ in letters or digits: ", paste(names(frames), collapse = ", "), call. = FALSE)
  }
  for (at in seq_along(frames)) {
    utils::write.csv(frames[[at]], paths[at], row.names = FALSE, fileEncoding = "UTF-8")
  }
  paths
}

# A CSV file of results as a data frame; ' before what looks like a formula is taken away again.
read_result <- function(file, text) {
  frame <- if (missing(text)) {
    utils::read.csv(file, colClasses = "character", na.strings = character(), check.names = FALSE, encoding = "UTF-8")
  } else {
    utils::read.csv(text = text, colClasses = "character", na.strings = character(), check.names = FALSE, encoding = "UTF-8")
  }
  frame[] <- lapply(frame, function(own) sub("^'(?=[=+@\t-])", "", own, perl = TRUE))
  frame
}

whole <- function(texts) {
  texts[texts == ""] <- NA
  as.numeric(texts)
}
