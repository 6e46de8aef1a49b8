"""gpu_table.py RECORDS: the metric records of gpu-check.sh as one table for people: ms, GB/s, share of copy bandwidth, ratio."""

import json
import sys


def main(path):
    rows = {}
    with open(path) as file:
        for record in map(json.loads, file):
            name, bandwidth = record["name"], record["name"].endswith("/bandwidth")
            row = rows.setdefault(name.removesuffix("/bandwidth"), {})
            row["GB/s" if bandwidth else record["unit"]] = record["value"]
            if bandwidth:
                row["share"] = record["ratio"]
            elif record.get("against"):
                row["ratio"] = f"{record['ratio']:.2f} x {record['against']}"
    head = ("measured", "ms", "GB/s", "of copy", "ratio")
    lines = [head]
    for name, row in rows.items():
        numbers = [f"{row[key]:.3f}" if key in row else "" for key in ("ms", "GB/s", "share")]
        rest = [f"{value:.3g} {unit}" for unit, value in row.items() if unit not in ("ms", "GB/s", "share", "ratio")]
        lines.append((name, *numbers, ", ".join([*rest, *([row["ratio"]] if "ratio" in row else [])])))
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    for line in lines:
        print("  ".join([line[0].ljust(widths[0]), *(line[i].rjust(widths[i]) for i in (1, 2, 3)), line[4]]).rstrip())


if __name__ == "__main__":
    main(sys.argv[1])
