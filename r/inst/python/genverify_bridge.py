"""A command of genverify for R: only texts cross the border, so that no version of numpy or pandas matters."""

import contextlib
import io


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
