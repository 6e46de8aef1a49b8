"""How the driver speaks to the ranks: NDJSON on rank 0's stdin and stdout, and one failure that ends the job."""

import contextlib
import datetime
import json
import math
import os
import sys
import threading
import time
import traceback
from typing import Any

import torch
import torch.distributed as dist

FAILURE, ANSWERED = "dart/failure", "dart/answered"
PATIENCE = 10.0  # seconds that a failing rank waits for rank 0 to pass its error on
PROGRESS = 2.0  # seconds between two progress events
OUTPUT: Any = sys.stdout


class SampleFault(Exception):
    """(rank, where, message) of an example that cannot be used. All ranks raise it: nothing changed, work goes on."""


class Protocol:
    """Requests from the driver to all ranks, answers back. Made before anything can print."""

    def __init__(self, control: dist.ProcessGroup):
        self.rank = dist.get_rank()
        self.control = control
        self.request: dict[str, Any] = {}
        self.told = 0.0
        self.lock = threading.Lock()
        self.over, self.closed = False, threading.Event()
        self.watch = threading.Thread(target=self._watch, daemon=True)
        if self.rank == 0:
            self.watch.start()

    def next(self) -> dict[str, Any]:
        """The next request, the same on every rank. The end of stdin is a request to close; waits without limit."""
        box: list[Any] = [None]
        if self.rank == 0:
            box[0] = json.loads(sys.stdin.buffer.readline() or '{"do": "close"}')
        dist.broadcast_object_list(box, src=0, group=self.control)
        self.request, self.told = box[0], time.monotonic()
        return self.request

    def answer(self, ok: Any) -> None:
        """Tells the driver what came of the request (rank 0 only; others stay silent)."""
        self._send({"id": self.request.get("id"), "ok": ok})

    def fault(self, fault: SampleFault) -> None:
        """Answers with an example's error."""
        rank, where, message = fault.args
        error = {"rank": rank, "kind": "sample", "where": where, "message": message, "trace": ""}
        self._send({"id": self.request.get("id"), "error": error})

    def progress(self, done: int, of: int) -> None:
        """Tells the driver how far a long request is, at most every two seconds."""
        if time.monotonic() - self.told >= PROGRESS:
            self.told = time.monotonic()
            self._send({"event": "progress", "do": self.request["do"], "done": done, "of": of})

    def fail(self, error: BaseException) -> None:
        """
        Ends this process with an error that the driver hears of whichever rank has it: rank 0 alone can write to the
        driver, and is as a rule inside a collective that will never end, so a thread of it waits for others' errors in
        the store that torchrun keeps.
        """
        told = describe(error, self.rank)
        print(f"rank {self.rank}: {told['message']}\n{told['trace']}", file=sys.stderr, flush=True)
        if self.rank == 0:
            # A rank that was lost makes rank 0 fail, too. What the other says of itself is the cause.
            time.sleep(1.0 if told["rank"] is None else 0.0)
            self._end(told)
        else:
            store = open_store()
            store.set(FAILURE, json.dumps(told))
            until = time.monotonic() + PATIENCE
            while not store.check([ANSWERED]) and time.monotonic() < until:
                time.sleep(0.05)
        os._exit(1)

    def close(self) -> None:
        """Ends the watch: a thread that is inside the store while Python ends would abort the process."""
        self.closed.set()
        if self.rank == 0:
            self.watch.join()

    def _watch(self) -> None:
        store = open_store()
        # An error of the store: torchrun is gone; stdin's end or the ranks themselves will tell.
        with contextlib.suppress(Exception):
            while not store.check([FAILURE]):
                if self.closed.wait(0.2):
                    return
            self._end(json.loads(store.get(FAILURE)))
            store.set(ANSWERED, "1")
            os._exit(1)

    def _end(self, error: dict[str, Any]) -> None:
        """The last word to the driver. Two threads may have one: the first is heard."""
        with self.lock:
            first, self.over = not self.over, True
        if first:
            with contextlib.suppress(OSError):
                self._send({"id": self.request.get("id"), "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        if self.rank == 0:
            with self.lock:
                OUTPUT.write(json.dumps(finite(message), allow_nan=False) + "\n")
                OUTPUT.flush()


def take_stdout() -> None:
    """Keeps stdout for the protocol: whatever else prints there, libraries included, goes to stderr from now on."""
    global OUTPUT
    OUTPUT = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)


def open_store() -> dist.TCPStore:
    """A connection of this thread's own to the store that torchrun keeps; it outlives every rank."""
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    return dist.TCPStore(host, port, is_master=False, timeout=datetime.timedelta(seconds=60))


def describe(error: BaseException, rank: int) -> dict[str, Any]:
    """The error as the protocol has it; `rank` null where the cause lies in another rank that cannot speak any more."""
    named = "" if isinstance(error, (ValueError, FileNotFoundError)) else f"{type(error).__name__}: "
    told = {"rank": rank, "kind": "error", "where": "", "message": f"{named}{error}"}
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in str(error):
        # PyTorch says how much was wanted, held and free.
        told |= {"kind": "memory", "message": str(error) or "out of memory"}
    elif isinstance(error, (dist.DistBackendError, dist.DistNetworkError)) or "by peer" in str(error):
        told |= {"rank": None, "message": f"contact with another rank was lost: {str(error).splitlines()[0]}"}
    return {**told, "trace": "".join(traceback.format_exception(error))[-8000:]}


def finite(value: Any) -> Any:
    """The value with null for each NaN and infinity, which JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, (list, tuple)) else value
