"""The C interface of native/kernels/dart_kernels.h from Python, with nothing but ctypes."""

import ctypes
import random
import struct
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p

ABI = 2
F32, BF16, F16 = 0, 1, 2
GRPO, GSPO = 0, 1
K3 = 3
TO_DEVICE, FROM_DEVICE, ON_DEVICE = 0, 1, 2
BYTES = {F32: 4, BF16: 2, F16: 2}
NAMES = {F32: "f32", BF16: "bf16", F16: "f16"}
STATISTICS = 16


class PolicyLoss(Structure):
    _fields_ = [
        ("rows", c_int64), ("vocabulary", c_int64),
        ("logits", c_void_p), ("logits_stride", c_int64), ("dlogits", c_void_p), ("dlogits_stride", c_int64),
        ("logits_type", c_int32), ("dlogits_type", c_int32),
        ("target", c_void_p), ("mask", c_void_p), ("scale", c_void_p), ("advantage", c_void_p),
        ("old_logp", c_void_p), ("rollout_logp", c_void_p), ("ref_logp", c_void_p),
        ("sequences", c_int64), ("sequence_offsets", c_void_p),
        ("temperature", c_double), ("clip_low", c_double), ("clip_high", c_double), ("dual_clip", c_double),
        ("tis_cap", c_double), ("kl_beta", c_double), ("entropy_coefficient", c_double),
        ("loss", c_int32), ("tis_level", c_int32), ("tis_mode", c_int32), ("kl", c_int32),
        ("logp", c_void_p), ("entropy", c_void_p), ("ratio", c_void_p), ("weight", c_void_p), ("token_loss", c_void_p),
        ("statistics", c_void_p), ("workspace", c_void_p), ("stream", c_void_p),
    ]  # fmt: skip


class GradientNorm(Structure):
    _fields_ = [
        ("size", c_int64), ("gradient", c_void_p), ("sum_of_squares", c_void_p), ("nonfinite", c_void_p),
        ("workspace", c_void_p), ("stream", c_void_p), ("gradient_type", c_int32),
    ]  # fmt: skip


class Adamw(Structure):
    _fields_ = [
        ("size", c_int64), ("parameter", c_void_p), ("gradient", c_void_p), ("first_moment", c_void_p),
        ("second_moment", c_void_p), ("master", c_void_p), ("step", c_int64), ("learning_rate", c_double),
        ("beta1", c_double), ("beta2", c_double), ("epsilon", c_double), ("weight_decay", c_double),
        ("gradient_scale", c_double), ("sum_of_squares", c_void_p), ("nonfinite", c_void_p),
        ("max_grad_norm", c_double), ("stream", c_void_p), ("parameter_type", c_int32), ("gradient_type", c_int32),
    ]  # fmt: skip


class Library:
    """A library with the C interface; every call that fails raises RuntimeError with the library's own words."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        if self.c.dart_kernels_abi() != ABI:
            raise RuntimeError(f"{path} has interface {self.c.dart_kernels_abi()}, this program needs {ABI}")
        self.c.dart_last_error.restype = c_char_p
        self.c.dart_instructions.restype = c_char_p
        for name in ("dart_policy_loss_workspace", "dart_gradient_norm_workspace"):
            getattr(self.c, name).restype = c_int64
            getattr(self.c, name).argtypes = [c_int64]
        self.c.dart_policy_loss.argtypes = [POINTER(PolicyLoss)]
        self.c.dart_gradient_norm.argtypes = [POINTER(GradientNorm)]
        self.c.dart_adamw.argtypes = [POINTER(Adamw)]
        self.c.dart_device_allocate.argtypes = [POINTER(c_void_p), c_int64]
        self.c.dart_device_free.argtypes = [c_void_p]
        self.c.dart_device_copy.argtypes = [c_void_p, c_void_p, c_int64, c_int]
        self.c.dart_device_describe.argtypes = [c_int, c_char_p, c_int64]

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.c.dart_last_error().decode())

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
        self.check(self.c.dart_policy_loss(byref(args)))

    def gradient_norm(self, args):
        self.check(self.c.dart_gradient_norm(byref(args)))

    def adamw(self, args):
        self.check(self.c.dart_adamw(byref(args)))

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
