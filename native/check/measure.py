"""Times, memory, metric records on stdout and the table for people on stderr."""

import ctypes
import gc
import json
import statistics
import sys
import threading
import time


def interleaved(calls, rounds=15, seconds=1.5):
    """
    Median seconds of each named call, taken in turns so that what the machine does meanwhile hits all alike. A call is
    (before, run): only run is timed. One round to warm up; at least 3, then until `rounds` or the time is over.
    """
    times = {name: [] for name in calls}
    end = None
    for number in range(rounds + 1):
        for name, (before, run) in calls.items():
            before()
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
        end = end or time.perf_counter() + seconds * len(calls)
        if number >= 3 and time.perf_counter() > end:
            break
    return {name: statistics.median(list_[1:]) for name, list_ in times.items()}


def resident():
    """
    Resident bytes of this process that it allocated, counted page by page; program text, which comes in as it is run, is
    not among them. VmRSS and VmHWM of /proc/self/status may lag by many pages a thread.
    """
    with open("/proc/self/smaps_rollup", "rb") as file:
        return 1024 * int(next(line for line in file if line.startswith(b"Anonymous:")).split()[1])


class Sampler(threading.Thread):
    """The most resident bytes while it lasts: seen at its beginning and end, and meanwhile as often as can be."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.ready, self.over = 0, threading.Event(), threading.Event()

    def run(self):
        while not self.over.is_set():
            self.most = max(self.most, resident())
            self.ready.set()

    def __enter__(self):
        self.start()
        self.ready.wait()
        self.before = self.most = resident()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
        self.most = max(self.most, resident())


def fresh_pages():
    """From here on malloc gives each allocation of two pages and more new ones, and no freed page hides it from `resident`."""
    mmap_threshold, libc = -3, ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(mmap_threshold, 8192)
        libc.malloc_trim(0)


def extra_memory(run):
    """How many bytes the process grew by at the most while it ran, to some pages."""
    gc.collect()
    fresh_pages()
    with Sampler() as sampler:
        run()
    return sampler.most - sampler.before


class Metrics:
    """One record a figure on stdout at once; the table at the end."""

    def __init__(self, file=None):
        self.rows, self.file = [], file

    def add(self, name, value, unit, against=None, ratio=None):
        record = {"type": "metric", "v": 1, "name": name, "value": float(f"{value:.6g}"), "unit": unit}
        if against is not None:
            record |= {"against": against, "ratio": None if ratio is None else float(f"{ratio:.4g}")}
        print(json.dumps(record), file=self.file or sys.stdout, flush=True)
        compared = "" if ratio is None else f"{ratio:.2f} x {against}"
        self.rows.append((name, f"{value:.3f}" if 0.01 <= value < 1000 else f"{value:.3g}", unit, compared))

    def table(self):
        head = ("measured", "value", "unit", "ratio")
        widths = [max(len(row[i]) for row in [head, *self.rows]) for i in range(4)]
        for row in [head, *self.rows]:
            cells = (row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].ljust(widths[2]), row[3])
            print("  ".join(cells).rstrip(), file=sys.stderr)
