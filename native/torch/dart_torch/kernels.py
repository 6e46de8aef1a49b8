"""The kernels of native/kernels/dart_kernels.h on tensors: the CPU's library or CUDA's, by the tensors' device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import abi

TYPES = {torch.float32: abi.F32, torch.bfloat16: abi.BF16, torch.float16: abi.F16}
CHOICES = {
    "surrogate": {"grpo": abi.GRPO, "gspo": abi.GSPO, "cispo": abi.CISPO, "sft": abi.SFT},
    "tis_level": {"token": abi.TOKEN, "sequence": abi.SEQUENCE},
    "tis_mode": {"truncate": abi.TRUNCATE, "mask": abi.MASK},
    "kl_estimator": {"k1": abi.K1, "k2": abi.K2, "k3": abi.K3},
}
OUT = ("logp", "entropy", "ratio", "weight", "token_loss")  # rows of the array that policy_loss writes


@dataclass(frozen=True)
class LossSettings:
    """What the policy loss is made of (design §9); None switches a part off. `surrogate` may be "sft", too."""

    surrogate: str = "grpo"
    clip_low: float = 0.2
    clip_high: float = 0.2
    dual_clip: float | None = None
    tis_cap: float | None = None
    tis_level: str = "token"
    tis_mode: str = "truncate"
    kl_beta: float = 0.0
    kl_estimator: str = "k3"
    entropy_coef: float = 0.0
    temperature: float = 1.0

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}")

    @classmethod
    def of(cls, objective: Mapping[str, Any], temperature: float = 1.0) -> "LossSettings":
        """From the objective of a request, whose fields for other parts (aggregation) are passed over."""
        own = {name: value for name, value in objective.items() if name in cls.__dataclass_fields__}
        return cls(**{**own, "temperature": temperature})

    @property
    def by_sequence(self) -> bool:
        """Whether a token's loss depends on its whole sequence, so that offsets are needed."""
        return self.surrogate == "gspo" or (bool(self.tis_cap) and self.tis_level == "sequence")


class Tokens(NamedTuple):
    """What is known of N tokens before their logits, on the logits' device."""

    targets: Tensor  # [N] int32, below 0: ignored
    scale: Tensor  # [N] float32, the token's share of the mean, as are the four below
    advantage: Tensor | None = None  # None: 1
    old_logp: Tensor | None = None  # None or not finite: the ratio is 1
    rollout_logp: Tensor | None = None  # None or not finite: the weight is 1
    ref_logp: Tensor | None = None  # None or not finite: no KL term
    offsets: Tensor | None = None  # [S + 1] int32, where the sequences begin and end


def _pointers(dtype: torch.dtype, shape: list[int], device: torch.device, **tensors: Tensor | None) -> dict[str, int]:
    """Where contiguous tensors' numbers lie, by name; 0 (NULL) for None. Raises ValueError on any other tensor."""
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        if tensor.dtype != dtype or list(tensor.shape) != shape or tensor.device != device:
            wanted, got = f"{dtype} {shape} on {device}", f"{tensor.dtype} {list(tensor.shape)} on {tensor.device}"
            raise ValueError(f"{name} must be {wanted}, not {got}")
        if not tensor.is_contiguous():
            raise ValueError(f"{name} must be contiguous, not of strides {list(tensor.stride())}")
    return {name: 0 if tensor is None else tensor.data_ptr() for name, tensor in tensors.items()}


def _matrix(logits: Tensor) -> dict[str, int]:
    """The struct's fields for contiguous logits [N, V] of float32, bfloat16 or float16."""
    rows, vocabulary = logits.shape
    return {
        **_pointers(logits.dtype, [rows, vocabulary], logits.device, logits=logits), "rows": rows,
        "vocabulary": vocabulary, "logits_stride": vocabulary, "logits_type": TYPES[logits.dtype],
    }  # fmt: skip


class Kernels:
    """The functions of the two libraries, each opened when first asked for.

    `cpu` and `cuda` are paths of libdart_cpu.so and libdart_cuda.so. Calls on CUDA tensors are queued on PyTorch's
    current stream and do not wait. Raises OSError or RuntimeError where a library does not load or is of another
    interface, ValueError on tensors that do not fit, RuntimeError with the library's words on what it refuses.
    """

    def __init__(self, cpu: str, cuda: str | None = None) -> None:
        self.paths = {"cpu": cpu, "cuda": cuda}
        self.libraries: dict[str, abi.Library] = {}

    def _open(self, device: torch.device) -> tuple[abi.Library, int]:
        """The device's library, told which device is meant, and the stream."""
        path = self.paths.get(device.type)
        if path is None:
            raise ValueError(f"there is no kernel library for tensors on {device}. Try: build the CUDA kernels (nvcc)")
        if device.type not in self.libraries:
            self.libraries[device.type] = library = abi.Library(path)
            library.check(library.c.dart_set_threads(torch.get_num_threads()))
        library = self.libraries[device.type]
        if device.type == "cpu":
            return library, 0
        library.check(library.c.dart_device_set(device.index))
        return library, torch.cuda.current_stream(device).cuda_stream

    def policy_loss(
        self, logits: Tensor, tokens: Tokens, settings: LossSettings, out: Tensor, statistics: Tensor, gradient: bool
    ) -> None:
        """dart_policy_loss on logits [N, V]; nobody looks for targets of V and above.

        Writes out [5, N] float32 (OUT), statistics [16] float64 (abi.STATISTICS) and, with `gradient`, the loss's
        gradient over the logits.
        """
        device, s, matrix = logits.device, settings, _matrix(logits)
        in_place = {f"d{name}": matrix[name] if gradient else 0 for name in ("logits", "logits_stride", "logits_type")}
        floats = {name: value for name, value in tokens._asdict().items() if name not in ("targets", "offsets")}
        bounds = 0 if tokens.offsets is None else len(tokens.offsets)
        targets = _pointers(torch.int32, [len(logits)], device, targets=tokens.targets)
        offsets = _pointers(torch.int32, [bounds], device, offsets=tokens.offsets)
        library, stream = self._open(device)
        size = library.c.dart_policy_loss_workspace(len(logits))
        workspace = torch.empty(size, dtype=torch.uint8, device=device)
        library.call("dart_policy_loss", abi.PolicyLoss(
            **matrix, **in_place, target=targets["targets"], sequences=max(bounds - 1, 0),
            **_pointers(torch.float32, [len(logits)], device, **floats, **dict(zip(OUT, out))),
            **_pointers(torch.float64, [len(abi.STATISTICS)], device, statistics=statistics),
            sequence_offsets=offsets["offsets"], workspace=workspace.data_ptr(), stream=stream,
            temperature=s.temperature, clip_low=s.clip_low, clip_high=s.clip_high, dual_clip=s.dual_clip or 0,
            tis_cap=s.tis_cap or 0, kl_beta=s.kl_beta, entropy_coefficient=s.entropy_coef,
            loss=CHOICES["surrogate"][s.surrogate], tis_level=CHOICES["tis_level"][s.tis_level],
            tis_mode=CHOICES["tis_mode"][s.tis_mode], kl=CHOICES["kl_estimator"][s.kl_estimator],
        ))  # fmt: skip

    def logp_entropy(self, logits: Tensor, targets: Tensor, temperature: float, logp: Tensor, entropy: Tensor) -> None:
        """dart_logp_entropy: writes logp and entropy [N] float32 of logits [N, V]; targets as in `policy_loss`."""
        rows, device = [len(logits)], logits.device
        library, stream = self._open(device)
        library.call("dart_logp_entropy", abi.LogpEntropy(
            **_matrix(logits), target=_pointers(torch.int32, rows, device, targets=targets)["targets"],
            **_pointers(torch.float32, rows, device, logp=logp, entropy=entropy),
            temperature=temperature, stream=stream,
        ))  # fmt: skip

    def dpo(
        self, chosen: Tensor, rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor, beta: float
    ) -> tuple[Tensor, ...]:
        """dart_dpo on B pairs, [B] float64 each: the loss [1] and its slopes by `chosen` and by `rejected` [B]."""
        loss, d_chosen, d_rejected = chosen.new_zeros(1), torch.zeros_like(chosen), torch.zeros_like(chosen)
        library, stream = self._open(chosen.device)
        library.call("dart_dpo", abi.Dpo(
            **_pointers(
                torch.float64, [len(chosen)], chosen.device, policy_chosen=chosen, policy_rejected=rejected,
                ref_chosen=ref_chosen, ref_rejected=ref_rejected,
                d_policy_chosen=d_chosen, d_policy_rejected=d_rejected,
            ),
            pairs=len(chosen), beta=beta, loss=loss.data_ptr(), stream=stream,
        ))  # fmt: skip
        return loss, d_chosen, d_rejected

    def kto(
        self, policy: Tensor, ref: Tensor, desirable: Tensor, beta: float, reference_point: float,
        desirable_weight: float, undesirable_weight: float,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """dart_kto on B sequences, policy, ref [B] float64, desirable [B] uint8: the loss [1], its slope by policy."""
        size, device = [len(policy)], policy.device
        loss, slope = policy.new_zeros(1), torch.zeros_like(policy)
        library, stream = self._open(device)
        library.call("dart_kto", abi.Kto(
            **_pointers(torch.float64, size, device, policy=policy, ref=ref, d_policy=slope),
            **_pointers(torch.uint8, size, device, desirable=desirable),
            sequences=len(policy), beta=beta, reference_point=reference_point, desirable_weight=desirable_weight,
            undesirable_weight=undesirable_weight, loss=loss.data_ptr(), stream=stream,
        ))  # fmt: skip
        return loss, slope
