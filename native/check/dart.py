"""The kernels' libraries and their memory for measurements, with nothing but ctypes."""

import ctypes
import os
import random
import struct
import sys
from ctypes import byref, c_void_p

# The file, not its package: the package wants PyTorch, which measurements do without.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torch", "dart_torch"))
import abi  # noqa: E402
from abi import BF16, F16, F32, GRPO, GSPO, K3, Adamw, GradientNorm, PolicyLoss  # noqa: E402, F401

# transformers (and so Liger) asks for a package `kernels`, and must not find the file of that name there.
sys.path.pop()

TO_DEVICE, FROM_DEVICE, ON_DEVICE = 0, 1, 2
BYTES = {F32: 4, BF16: 2, F16: 2}
NAMES = {F32: "f32", BF16: "bf16", F16: "f16"}
STATISTICS = len(abi.STATISTICS)


class Library(abi.Library):
    """What the measurements ask of a library, beside its calls."""

    def describe(self):
        text = ctypes.create_string_buffer(256)
        self.check(self.c.dart_device_describe(0, text, 256))
        return text.value.decode()

    def instructions(self):
        return self.c.dart_instructions().decode()

    def set_threads(self, count):
        self.check(self.c.dart_set_threads(count))

    def synchronize(self):
        self.check(self.c.dart_device_synchronize())

    def policy_loss(self, args):
        self.call("dart_policy_loss", args)

    def gradient_norm(self, args):
        self.call("dart_gradient_norm", args)

    def adamw(self, args):
        self.call("dart_adamw", args)

    def policy_workspace(self, rows):
        return self.c.dart_policy_loss_workspace(rows)

    def norm_workspace(self, size):
        return self.c.dart_gradient_norm_workspace(size)


class Memory:
    """Bytes in the library's memory, freed with the object."""

    def __init__(self, library, size):
        self.library, self.size, pointer = library, size, c_void_p()
        library.check(library.c.dart_device_allocate(byref(pointer), max(size, 1)))
        self.pointer = pointer.value

    def __del__(self):
        if getattr(self, "pointer", None):
            self.library.c.dart_device_free(self.pointer)

    def write(self, data, at=0):
        self.library.check(self.library.c.dart_device_copy(self.pointer + at, data, len(data), TO_DEVICE))

    def repeat(self, block):
        """Fills the memory with a block again and again."""
        for at in range(0, self.size, len(block)):
            self.write(block[: self.size - at], at)
        return self

    def copy_from(self, other):
        self.library.check(self.library.c.dart_device_copy(self.pointer, other.pointer, self.size, ON_DEVICE))


def random_block(kind, count=1 << 16, spread=2.0, seed=7):
    """`count` normal numbers as bytes of f32 or bf16."""
    source = random.Random(seed)
    data = struct.pack(f"<{count}f", *(source.gauss(0, spread) for _ in range(count)))
    return data if kind == F32 else b"".join(data[i + 2 : i + 4] for i in range(0, len(data), 4))


def floats(library, values):
    memory = Memory(library, 4 * len(values))
    memory.write(struct.pack(f"<{len(values)}f", *values))
    return memory


def integers(library, values):
    memory = Memory(library, 4 * len(values))
    memory.write(struct.pack(f"<{len(values)}i", *values))
    return memory
