"""
bench_kernels.py LIBRARY SWEEP: the CPU kernels beside eager PyTorch (where this Python has it) and beside a read and
write of the same bytes in place, in one run, medians, at equal numbers of threads. A ratio is their time by ours: above
1 ours is faster.
"""

import argparse
import ctypes
import math
import os
import subprocess
import sys

import dart
import eager
from measure import Metrics, extra_memory, interleaved

try:
    import torch
except ImportError:
    torch = None

EAGER = "eager PyTorch"
SWEEP = "read and write in place"
SHAPES = [(512, 32_000), (256, 151_936)]
PARAMETERS = 10_000_000


def tensor_of(memory, kind):
    """A PyTorch tensor over the library's memory."""
    buffer = (ctypes.c_char * memory.size).from_address(memory.pointer)
    return torch.frombuffer(buffer, dtype=torch.float32 if kind == dart.F32 else torch.bfloat16)


def threaded(threads):
    return f"{threads} thread{'' if threads == 1 else 's'}"


class PolicyCase:
    """One matrix of logits, ours in place, and the arguments of both."""

    def __init__(self, library, rows, vocabulary, kind):
        self.library, self.rows, self.vocabulary, self.kind = library, rows, vocabulary, kind
        self.bytes = rows * vocabulary * dart.BYTES[kind]
        self.original = dart.Memory(library, self.bytes).repeat(dart.random_block(kind))
        self.work = dart.Memory(library, self.bytes)
        self.targets = [37 * row % vocabulary for row in range(rows)]
        self.old = [-math.log(vocabulary) - 2 + 0.1 * math.sin(row) for row in range(rows)]
        self.advantage = [math.cos(row) for row in range(rows)]
        self.arrays = [dart.integers(library, self.targets), dart.floats(library, [1 / rows] * rows)]
        self.arrays += [dart.floats(library, self.advantage), dart.floats(library, self.old)]
        self.outputs = dart.Memory(library, 20 * rows + 8 * dart.STATISTICS)
        self.workspace = None

    def restore(self):
        self.work.copy_from(self.original)

    def ours(self, entropy=0.0):
        size = self.library.policy_workspace(self.rows)
        self.workspace = self.workspace or dart.Memory(self.library, size)
        target, scale, advantage, old = (array.pointer for array in self.arrays)
        out = [self.outputs.pointer + 8 * dart.STATISTICS + 4 * self.rows * k for k in range(5)]
        args = dart.PolicyLoss(
            rows=self.rows, vocabulary=self.vocabulary, logits=self.work.pointer, dlogits=self.work.pointer,
            logits_stride=self.vocabulary, dlogits_stride=self.vocabulary, logits_type=self.kind, dlogits_type=self.kind,
            target=target, scale=scale, advantage=advantage, old_logp=old, temperature=1, clip_low=0.2, clip_high=0.28,
            entropy_coefficient=entropy, loss=dart.GRPO, kl=dart.K3, logp=out[0], entropy=out[1], ratio=out[2],
            weight=out[3], token_loss=out[4], statistics=self.outputs.pointer, workspace=self.workspace.pointer,
        )  # fmt: skip
        return lambda: self.library.policy_loss(args)

    def theirs(self, entropy):
        logits = tensor_of(self.original, self.kind).view(self.rows, self.vocabulary).clone().requires_grad_(True)
        target = torch.tensor(self.targets)
        old, advantage = torch.tensor(self.old), torch.tensor(self.advantage)
        scale = torch.full((self.rows,), 1 / self.rows)

        def before():
            logits.grad = None

        return before, lambda: eager.policy_loss(torch, logits, target, old, advantage, scale, entropy)


class KeptMemory:
    """
    While it lasts, malloc keeps what is freed. As it comes, glibc gives a freed matrix back to the system and PyTorch pays for
    new pages in each call; in here it works in warm memory, which is the hardest to beat.
    """

    TRIM_THRESHOLD, MMAP_MAX = -1, -4

    def __enter__(self):
        self.libc = ctypes.CDLL(None)
        self.set(2**31 - 1, 0)

    def __exit__(self, *_):
        self.set(128 * 1024, 65_536)
        self.libc.malloc_trim(0)

    def set(self, trim, most):
        if hasattr(self.libc, "mallopt"):
            self.libc.mallopt(self.TRIM_THRESHOLD, trim)
            self.libc.mallopt(self.MMAP_MAX, most)


def policy(metrics, case, sweep, threads, bonus):
    """Without an entropy bonus, against the eager loss that reports no entropy, which is the least that a trainer computes."""
    name = f"policy_loss/{dart.NAMES[case.kind]} {case.rows}x{case.vocabulary}/{threaded(threads)}{', entropy bonus' if bonus else ''}"
    ours = (case.restore, case.ours(0.01 if bonus else 0.0))
    calls = {"ours": ours, "sweep": (case.restore, lambda: sweep.dart_sweep(case.work.pointer, case.bytes // 4, threads))}
    if torch:
        calls["eager"] = case.theirs("bonus" if bonus else "none")
        if not bonus:
            calls["entropy"] = case.theirs("reported")
    times = interleaved(calls)
    time = times["ours"]
    metrics.add(name, 1e3 * time, "ms", *((EAGER, times["eager"] / time) if torch else ()))
    if torch and not bonus:
        metrics.add(f"{name}, entropy reported", 1e3 * time, "ms", f"{EAGER} with entropy", times["entropy"] / time)
        with KeptMemory():
            kept = interleaved({"ours": ours, "eager": calls["eager"]})
        metrics.add(f"{name}, memory kept", 1e3 * kept["ours"], "ms", f"{EAGER} in warm memory", kept["eager"] / kept["ours"])
    metrics.add(f"{name}, bandwidth", 2 * case.bytes / time / 1e9, "GB/s", SWEEP, times["sweep"] / time)


class AdamwCase:
    """P weights with clipping; ours and PyTorch's on arrays of their own, filled alike."""

    def __init__(self, library, size):
        self.library, self.size = library, size
        self.arrays = [dart.Memory(library, 4 * size).repeat(dart.random_block(dart.F32)) for _ in range(2)]
        self.arrays += [dart.Memory(library, 4 * size).repeat(bytes(1 << 20)) for _ in range(2)]
        self.totals = dart.Memory(library, 16)
        self.workspace = None

    def ours(self):
        self.workspace = self.workspace or dart.Memory(self.library, self.library.norm_workspace(self.size))
        parameter, gradient, first, second = (array.pointer for array in self.arrays)
        total, bad = self.totals.pointer, self.totals.pointer + 8
        norm = dart.GradientNorm(
            size=self.size, gradient=gradient, sum_of_squares=total, nonfinite=bad, workspace=self.workspace.pointer
        )
        update = dart.Adamw(
            size=self.size, parameter=parameter, gradient=gradient, first_moment=first, second_moment=second, step=10,
            learning_rate=1e-6, beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.01, gradient_scale=1,
            sum_of_squares=total, nonfinite=bad, max_grad_norm=1,
        )  # fmt: skip

        def step():
            self.totals.write(bytes(16))
            self.library.gradient_norm(norm)
            self.library.adamw(update)

        return step

    def theirs(self, fused):
        parameter = torch.nn.Parameter(tensor_of(self.arrays[0], dart.F32).clone())
        parameter.grad = tensor_of(self.arrays[1], dart.F32).clone()
        return eager.adamw(torch, parameter, fused)

    def sweep(self, sweep, threads):
        """The bytes of the update, read and written: parameter and both moments, and the gradient twice read."""
        for array in self.arrays:
            sweep.dart_sweep(array.pointer, self.size, threads)


def optimiser(metrics, library, sweep, threads):
    case, nothing = AdamwCase(library, PARAMETERS), lambda: None
    calls = {"ours": (nothing, case.ours()), "sweep": (nothing, lambda: case.sweep(sweep, threads))}
    if torch:
        calls |= {"plain": (nothing, case.theirs(False)), "fused": (nothing, case.theirs(True))}
    times = interleaved(calls)
    ours, name = times["ours"], f"adamw with clipping/{PARAMETERS} f32/{threaded(threads)}"
    if torch:
        metrics.add(name, 1e3 * ours, "ms", "torch.optim.AdamW", times["plain"] / ours)
        metrics.add(f"{name}, fused", 1e3 * ours, "ms", "torch.optim.AdamW(fused=True)", times["fused"] / ours)
    else:
        metrics.add(name, 1e3 * ours, "ms")
    metrics.add(f"{name}, bandwidth", 32 * PARAMETERS / ours / 1e9, "GB/s", SWEEP, times["sweep"] / ours)


def memory_of(who, what, library):
    """In a process of its own: bytes beside inputs and outputs. A small call first, so that code and threads are loaded."""
    if what == "adamw":
        small, case = AdamwCase(library, 1000), AdamwCase(library, PARAMETERS)
        run_small, run = (small.ours(), case.ours) if who == "ours" else (small.theirs(False), lambda: case.theirs(False))
    else:
        rows, vocabulary, kind = (int(word) for word in what.split(","))
        small, case = PolicyCase(library, 4, 64, kind), PolicyCase(library, rows, vocabulary, kind)
        case.restore()
        small.restore()
        if who == "ours":
            run_small, run = small.ours(), case.ours
        else:
            run_small, theirs = small.theirs("none")[1], case.theirs("none")[1]
            run = lambda: theirs
    run_small()
    if what == "adamw" and who != "ours":
        step = run()
        step()  # its moments are not extra
        return extra_memory(step)
    return extra_memory(lambda: run()())


def memory(metrics, options, name, what, size):
    """Peak of what is allocated beside the inputs, as share of the matrix that the work is about."""
    def ask(who):
        command = [sys.executable, __file__, options.library, options.sweep, "--memory", who, what, *options.quick_flag]
        return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    metrics.add(name, 100 * ask("ours") / size, "%")
    if torch:
        metrics.add(f"{name}, {EAGER}", 100 * ask("torch") / size, "%")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("sweep")
    parser.add_argument("--quick", action="store_true", help="tiny shapes, to try the program")
    parser.add_argument("--memory", nargs=2, metavar=("WHO", "WHAT"), help="print extra bytes of one call, then end")
    options = parser.parse_args()
    options.quick_flag = ["--quick"] if options.quick else []
    return options


def main():
    global SHAPES, PARAMETERS
    options = parse()
    if options.quick:
        SHAPES, PARAMETERS = [(8, 1000), (4, 1031 * 2)], 10_000
    library, sweep = dart.Library(os.path.abspath(options.library)), ctypes.CDLL(os.path.abspath(options.sweep))
    sweep.dart_sweep.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int]
    if options.memory:
        library.set_threads(1)
        if torch:
            torch.set_num_threads(1)
        return print(memory_of(*options.memory, library))
    about = f"PyTorch {torch.__version__}" if torch else "no PyTorch in this Python: ratios to it are left out. Try: DART_PYTHON=PROGRAM"
    print(f"bench-kernels: {library.describe()}, {library.instructions()}; {about}", file=sys.stderr)
    metrics = Metrics()
    for rows, vocabulary in SHAPES:
        for kind in (dart.F32, dart.BF16):
            case = PolicyCase(library, rows, vocabulary, kind)
            for threads in (1, 2):
                library.set_threads(threads)
                if torch:
                    torch.set_num_threads(threads)
                policy(metrics, case, sweep, threads, False)
                if kind == dart.F32 and (rows, vocabulary) == SHAPES[0]:
                    policy(metrics, case, sweep, threads, True)
            name = f"policy_loss/{dart.NAMES[kind]} {rows}x{vocabulary}/extra memory"
            memory(metrics, options, name, f"{rows},{vocabulary},{kind}", case.bytes)
            del case
    for threads in (1, 2):
        library.set_threads(threads)
        if torch:
            torch.set_num_threads(threads)
        optimiser(metrics, library, sweep, threads)
    memory(metrics, options, f"adamw with clipping/{PARAMETERS} f32/extra memory", "adamw", 4 * PARAMETERS)
    metrics.table()


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"bench-kernels: {error}", file=sys.stderr)
        sys.exit(2)
