"""The structs and the libraries of native/kernels/dart_kernels.h from Python, with nothing but ctypes."""

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_void_p

ABI = 2
F32, BF16, F16 = 0, 1, 2
GRPO, GSPO, CISPO, SFT = 0, 1, 2, 3
TOKEN, SEQUENCE = 0, 1
TRUNCATE, MASK = 0, 1
K1, K2, K3 = 1, 2, 3
# The doubles of dart_policy_statistics: sums, but for weight_max.
STATISTICS = (
    "tokens", "ignored", "excluded", "nonfinite", "loss", "approx_kl", "clipped", "entropy", "reference_kl",
    "reference_tokens", "weight", "weight_max", "truncated", "rollout_tokens", "logp_difference", "log_weight",
)  # fmt: skip


class PolicyLoss(Structure):
    """dart_policy_loss_args. May be NULL: dlogits, mask, advantage, the three log-probabilities, sequence_offsets."""

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


class LogpEntropy(Structure):
    """dart_logp_entropy_args."""

    _fields_ = [
        ("rows", c_int64), ("vocabulary", c_int64), ("logits", c_void_p), ("logits_stride", c_int64),
        ("target", c_void_p), ("temperature", c_double), ("logp", c_void_p), ("entropy", c_void_p),
        ("stream", c_void_p), ("logits_type", c_int32),
    ]  # fmt: skip


class GradientNorm(Structure):
    """dart_gradient_norm_args."""

    _fields_ = [
        ("size", c_int64), ("gradient", c_void_p), ("sum_of_squares", c_void_p), ("nonfinite", c_void_p),
        ("workspace", c_void_p), ("stream", c_void_p), ("gradient_type", c_int32),
    ]  # fmt: skip


class Adamw(Structure):
    """dart_adamw_args."""

    _fields_ = [
        ("size", c_int64), ("parameter", c_void_p), ("gradient", c_void_p), ("first_moment", c_void_p),
        ("second_moment", c_void_p), ("master", c_void_p), ("step", c_int64), ("learning_rate", c_double),
        ("beta1", c_double), ("beta2", c_double), ("epsilon", c_double), ("weight_decay", c_double),
        ("gradient_scale", c_double), ("sum_of_squares", c_void_p), ("nonfinite", c_void_p),
        ("max_grad_norm", c_double), ("stream", c_void_p), ("parameter_type", c_int32), ("gradient_type", c_int32),
    ]  # fmt: skip


class Dpo(Structure):
    """dart_dpo_args."""

    _fields_ = [
        ("pairs", c_int64), ("policy_chosen", c_void_p), ("policy_rejected", c_void_p), ("ref_chosen", c_void_p),
        ("ref_rejected", c_void_p), ("beta", c_double), ("loss", c_void_p), ("d_policy_chosen", c_void_p),
        ("d_policy_rejected", c_void_p), ("stream", c_void_p),
    ]  # fmt: skip


class Kto(Structure):
    """dart_kto_args."""

    _fields_ = [
        ("sequences", c_int64), ("policy", c_void_p), ("ref", c_void_p), ("desirable", c_void_p), ("beta", c_double),
        ("reference_point", c_double), ("desirable_weight", c_double), ("undesirable_weight", c_double),
        ("loss", c_void_p), ("d_policy", c_void_p), ("stream", c_void_p),
    ]  # fmt: skip


CALLS = {
    "dart_policy_loss": PolicyLoss, "dart_logp_entropy": LogpEntropy, "dart_gradient_norm": GradientNorm,
    "dart_adamw": Adamw, "dart_dpo": Dpo, "dart_kto": Kto,
}  # fmt: skip


class Library:
    """A library with the C interface, `c`; a call that fails raises RuntimeError with the library's own words."""

    def __init__(self, path: str) -> None:
        self.c = ctypes.CDLL(path)
        if self.c.dart_kernels_abi() != ABI:
            raise RuntimeError(f"{path} has interface {self.c.dart_kernels_abi()}, this program needs {ABI}")
        self.c.dart_last_error.restype = c_char_p
        self.c.dart_instructions.restype = c_char_p
        for name in ("dart_policy_loss_workspace", "dart_gradient_norm_workspace"):
            getattr(self.c, name).restype = c_int64
            getattr(self.c, name).argtypes = [c_int64]
        for name, struct in CALLS.items():
            getattr(self.c, name).argtypes = [POINTER(struct)]
        self.c.dart_device_allocate.argtypes = [POINTER(c_void_p), c_int64]
        self.c.dart_device_free.argtypes = [c_void_p]
        self.c.dart_device_copy.argtypes = [c_void_p, c_void_p, c_int64, c_int]
        self.c.dart_device_describe.argtypes = [c_int, c_char_p, c_int64]

    def check(self, status: int) -> None:
        """Raises RuntimeError unless `status` is DART_OK."""
        if status != 0:
            raise RuntimeError(self.c.dart_last_error().decode())

    def call(self, name: str, args: Structure) -> None:
        """Calls the function `name` of the interface with its struct."""
        self.check(getattr(self.c, name)(byref(args)))
