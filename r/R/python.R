# The Python side: the bridge is imported once, and every command goes through it as texts.

state <- new.env(parent = emptyenv())

bridge <- function() {
  if (is.null(state$bridge)) {
    folder <- system.file("python", package = "genverify")
    state$bridge <- reticulate::import_from_path("genverify_bridge", path = folder)
  }
  state$bridge
}

# A module of the package is asked for: any folder called genverify, as that of this R package, is an empty Python package too.
gv_available <- function() {
  found <- tryCatch(reticulate::py_module_available("genverify.cli"), error = function(problem) FALSE)
  isTRUE(found)
}

# Why no module at all is found: a reticulate that is older than the Python cannot start it. Empty where it can.
no_python <- function() tryCatch({
  reticulate::py_config()
  ""
}, error = conditionMessage)

# An error unless the Python package can be used.
need_python <- function() {
  if (gv_available()) return(invisible())
  if (nzchar(no_python())) {
    stop("reticulate ", utils::packageVersion("reticulate"), " cannot start this Python (", no_python(), "). Python 3.12 and ",
         "later need a newer one: install.packages(\"reticulate\"), or name an older Python before the first call: ",
         "Sys.setenv(RETICULATE_PYTHON = \"/path/to/python\")", call. = FALSE)
  }
  stop("the Python package genverify is not found. Install it (in a copy of the repository: pip install .), and name its Python before the ",
       "first call: Sys.setenv(RETICULATE_PYTHON = \"/path/to/python\")", call. = FALSE)
}

# What a command says: its status, its output and its messages. A message of the command is an error here.
answered <- function(words) {
  need_python()
  found <- as.character(unlist(bridge()$answered(as.list(words))))
  list(status = as.integer(found[1]), out = found[2], error = found[3])
}

# What gv.disclose of Python returns: its answer as JSON, its cells as CSV.
disclosed <- function(paths, options, out) {
  need_python()
  found <- as.character(unlist(bridge()$disclosed(as.list(paths), as.character(options), out)))
  list(status = as.integer(found[1]), answer = found[2], out = found[3], error = found[4])
}

fail <- function(found) {
  lines <- strsplit(trimws(found$error), "\n", fixed = TRUE)[[1]]
  stop(if (length(lines)) lines[length(lines)] else "genverify failed without a message", call. = FALSE)
}

# Words of the command line: an option once for each of its values, or for each name=value.
option <- function(name, values) {
  if (!length(values)) return(character())
  own <- if (is.null(names(values))) as.character(values) else paste0(names(values), "=", as.character(values))
  as.vector(rbind(paste0("--", name), own))
}

# Named values as a list that JSON writes as an object.
pairs <- function(values) if (length(values)) as.list(vapply(values, as.character, "")) else NULL

number <- function(value) format(value, scientific = FALSE, trim = TRUE, digits = 15)
