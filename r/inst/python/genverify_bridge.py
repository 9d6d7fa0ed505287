"""genverify for R: only texts cross the border, so that no version of numpy or pandas matters."""

import contextlib
import io
import json


def answered(words):
    """Run a command of genverify; its exit status, and what it printed on the standard output and the standard error."""
    from genverify.cli import main

    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            status = main(list(words))
        except SystemExit as stopped:  # words that the command line does not know
            status = stopped.code if isinstance(stopped.code, int) else 1
    return [str(int(status or 0)), out.getvalue(), error.getvalue()]


def disclosed(paths, options, out):
    """What gv.disclose finds in files of tables: an exit status, the answer as JSON, the cells as CSV, and the error."""
    import genverify
    from genverify.model.errors import GenverifyError
    from genverify.model.tablefiles import neutral_frame

    try:
        audit = genverify.disclose(list(paths), **json.loads(options))
        if out:
            audit.write(out)
    except GenverifyError as error:
        return ["2", "", "", f"{type(error).__name__}: {error}"]
    return ["0", audit.as_json(), neutral_frame(audit.cells).to_csv(index=False), ""]


def verb(name, columns, given, arguments):
    """A verb of the API about a release of records: an exit status, the result as CSV or JSON, and the error."""
    import genverify
    from genverify.model.errors import GenverifyError
    from genverify.model.tablefiles import neutral_frame

    try:
        release = genverify.Release.from_frame(_frame(json.loads(columns)), **json.loads(given))
        options = json.loads(arguments) or {}
        if name == "describe":
            return ["0", json.dumps(repr(release)), ""]
        if "sample" in options:
            options["sample"] = _frame(options["sample"])
        values = options.pop("values", None) or {}
        answer = getattr(release, name)(**options, **values)
    except GenverifyError as error:
        return ["2", "", f"{type(error).__name__}: {error}"]
    if name == "probability":
        said = {"value": answer.value, "low": answer.low, "high": answer.high, "exact": answer.exact, "text": str(answer)}
        return ["0", json.dumps(said), ""]
    return ["0", neutral_frame(answer.frame() if name == "attack" else answer).to_csv(index=False), ""]


def _frame(columns):
    """Columns of R as a frame: factors with their levels, a column of one row as a list again."""
    import pandas

    held = {}
    for name, column in columns.items():
        values = column["values"] if isinstance(column["values"], list) else [column["values"]]
        held[name] = pandas.Categorical(values, categories=column["levels"]) if "levels" in column else values
    return pandas.DataFrame(held)
