"""Runs a file of unit tests and writes a JSON line per case: `{"case", "result", "detail"}`. Else all goes to stderr.

    python runner.py test_prompts.py             PYTHONPATH names the folder of dart_torch and this one
    python runner.py --list test_*.py            only the names: a line `{"file", "cases"}` for each file
    python runner.py --attached …                ends, with all that it started, at the end of stdin
"""

import faulthandler
import json
import os
import signal
import sys
import threading
import unittest
from pathlib import Path


def name_of(test) -> str:
    """`Class.test_name`; or what failed in their place, such as `setUpClass (test_batches.Plan)`."""
    return ".".join(test.id().split(".")[-2:])


class Report(unittest.TestResult):
    """Tells of each case when it has ended; of its failing parts, all."""

    def __init__(self, tell):
        super().__init__()
        self.write = tell
        self.details = []
        self.result = "passed"

    def stopTest(self, test):
        self.tell(test)
        super().stopTest(test)

    def tell(self, test):
        self.write({"case": name_of(test), "result": self.result, "detail": "\n".join(self.details)})
        self.details, self.result = [], "passed"

    def note(self, test, result, detail):
        self.result = result
        self.details.append(detail)
        # What ends outside of any case, such as setUpClass.
        if not isinstance(test, unittest.TestCase):
            self.tell(test)

    def addError(self, test, error):
        self.note(test, "failed", self._exc_info_to_string(error, test))

    def addFailure(self, test, error):
        self.addError(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.note(test, "failed", f"{subtest}\n{self._exc_info_to_string(error, test)}")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed", "it was expected to fail, and passed")

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)


def cases_in(suite):
    """The cases of a suite, whatever suites lie in it."""
    for part in suite:
        yield from cases_in(part) if isinstance(part, unittest.TestSuite) else [part]


def attach() -> None:
    """Ends this process group once stdin does, since whoever held it has ended."""
    held = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def wait():
        while os.read(held, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def main(arguments: list[str]) -> None:
    faulthandler.enable()
    if arguments[0] == "--attached":
        attach()
        arguments = arguments[1:]
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(line):
        stream.write(json.dumps(line) + "\n")
        stream.flush()

    listing = arguments[0] == "--list"
    for file in arguments[1:] if listing else arguments:
        suite = unittest.defaultTestLoader.loadTestsFromName(Path(file).stem)
        if listing:
            tell({"file": file, "cases": [name_of(test) for test in cases_in(suite)]})
        else:
            suite.run(Report(tell))


if __name__ == "__main__":
    main(sys.argv[1:])
