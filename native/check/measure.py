"""Times, memory, metric records on stdout and the table for people on stderr."""

import json
import statistics
import sys
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
    """Resident bytes of this process, and their high-water mark."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return tuple(1024 * int(lines[name].split()[0]) for name in ("VmRSS", "VmHWM"))


def extra_memory(run):
    """How many bytes the process grew by at the most while it ran."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = resident()[0]
    run()
    return max(0, resident()[1] - before)


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
