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


def _fields(*groups: tuple[type, str]) -> list[tuple[str, type]]:
    return [(name, kind) for kind, names in groups for name in names.split()]


class PolicyLoss(Structure):
    """dart_policy_loss_args. May be NULL: dlogits, mask, advantage, the three log-probabilities, sequence_offsets."""

    _fields_ = _fields(
        (c_int64, "rows vocabulary"), (c_void_p, "logits"), (c_int64, "logits_stride"), (c_void_p, "dlogits"),
        (c_int64, "dlogits_stride"), (c_int32, "logits_type dlogits_type"),
        (c_void_p, "target mask scale advantage old_logp rollout_logp ref_logp"),
        (c_int64, "sequences"), (c_void_p, "sequence_offsets"),
        (c_double, "temperature clip_low clip_high dual_clip tis_cap kl_beta entropy_coefficient"),
        (c_int32, "loss tis_level tis_mode kl"),
        (c_void_p, "logp entropy ratio weight token_loss statistics workspace stream"),
    )  # fmt: skip


class LogpEntropy(Structure):
    """dart_logp_entropy_args."""

    _fields_ = _fields(
        (c_int64, "rows vocabulary"), (c_void_p, "logits"), (c_int64, "logits_stride"), (c_void_p, "target"),
        (c_double, "temperature"), (c_void_p, "logp entropy stream"), (c_int32, "logits_type"),
    )  # fmt: skip


class GradientNorm(Structure):
    """dart_gradient_norm_args."""

    _fields_ = _fields(
        (c_int64, "size"), (c_void_p, "gradient sum_of_squares nonfinite workspace stream"), (c_int32, "gradient_type")
    )


class Adamw(Structure):
    """dart_adamw_args."""

    _fields_ = _fields(
        (c_int64, "size"), (c_void_p, "parameter gradient first_moment second_moment master"), (c_int64, "step"),
        (c_double, "learning_rate beta1 beta2 epsilon weight_decay gradient_scale"),
        (c_void_p, "sum_of_squares nonfinite"), (c_double, "max_grad_norm"), (c_void_p, "stream"),
        (c_int32, "parameter_type gradient_type"),
    )  # fmt: skip


class Dpo(Structure):
    """dart_dpo_args."""

    _fields_ = _fields(
        (c_int64, "pairs"), (c_void_p, "policy_chosen policy_rejected ref_chosen ref_rejected"), (c_double, "beta"),
        (c_void_p, "loss d_policy_chosen d_policy_rejected stream"),
    )  # fmt: skip


class Kto(Structure):
    """dart_kto_args."""

    _fields_ = _fields(
        (c_int64, "sequences"), (c_void_p, "policy ref desirable"),
        (c_double, "beta reference_point desirable_weight undesirable_weight"), (c_void_p, "loss d_policy stream"),
    )  # fmt: skip


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
        self.c.dart_last_error.restype = self.c.dart_instructions.restype = c_char_p
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
