"""The kernels of native/kernels/dart_kernels.h on tensors: the CPU's library or CUDA's, by the tensors' device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from . import abi

TYPES = {torch.float32: abi.F32, torch.bfloat16: abi.BF16, torch.float16: abi.F16}
SURROGATES = {"grpo": abi.GRPO, "gspo": abi.GSPO, "cispo": abi.CISPO, "sft": abi.SFT}
LEVELS = {"token": abi.TOKEN, "sequence": abi.SEQUENCE}
MODES = {"truncate": abi.TRUNCATE, "mask": abi.MASK}
ESTIMATORS = {"k1": abi.K1, "k2": abi.K2, "k3": abi.K3}
# Rows of the array that policy_loss writes, one number a token each.
LOGP, ENTROPY, RATIO, WEIGHT, TOKEN_LOSS = range(5)


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
        names = (("surrogate", SURROGATES), ("tis_level", LEVELS), ("tis_mode", MODES), ("kl_estimator", ESTIMATORS))
        for name, known in names:
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
    """What is known of N tokens before their logits, on the logits' device.

    targets [N] int32, below 0: ignored; scale [N] float32, the token's share of the mean; advantage (None: 1),
    old_logp (None or not finite: the ratio is 1), rollout_logp (weight 1), ref_logp (no KL term) [N] float32;
    offsets [S + 1] int32, where the sequences begin and end.
    """

    targets: Tensor
    scale: Tensor
    advantage: Tensor | None = None
    old_logp: Tensor | None = None
    rollout_logp: Tensor | None = None
    ref_logp: Tensor | None = None
    offsets: Tensor | None = None


def _pointer(name: str, tensor: Tensor | None, dtype: torch.dtype, shape: Sequence[int], device: torch.device) -> int:
    """Where a contiguous tensor's numbers lie; 0 (NULL) for None. Raises ValueError on any other tensor."""
    if tensor is None:
        return 0
    if tensor.dtype != dtype or list(tensor.shape) != list(shape) or tensor.device != device:
        wanted, got = f"{dtype} {list(shape)} on {device}", f"{tensor.dtype} {list(tensor.shape)} on {tensor.device}"
        raise ValueError(f"{name} must be {wanted}, not {got}")
    if not tensor.is_contiguous():
        raise ValueError(f"{name} must be contiguous, not of strides {list(tensor.stride())}")
    return tensor.data_ptr()


def _matrix(name: str, tensor: Tensor) -> tuple[int, int, int]:
    """Pointer, row stride and type of [N, V]; rows must be contiguous, and may lie apart."""
    if tensor.dim() != 2 or tensor.dtype not in TYPES or (tensor.shape[1] > 1 and tensor.stride(1) != 1):
        known = "[N, V] in float32, bfloat16 or float16 with contiguous rows"
        raise ValueError(
            f"{name} must be {known}, not {tensor.dtype} {list(tensor.shape)}, strides {list(tensor.stride())}"
        )
    return tensor.data_ptr(), max(tensor.stride(0), tensor.shape[1]), TYPES[tensor.dtype]


class Kernels:
    """The functions of the two libraries, each opened when first asked for.

    `cpu` and `cuda` are paths of libdart_cpu.so and libdart_cuda.so. Calls on CUDA tensors are queued on PyTorch's
    current stream and do not wait. Raises OSError or RuntimeError where a library does not load or is of another
    interface, ValueError on arguments, RuntimeError with the library's words on what it refuses.
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
            library = abi.Library(path)
            library.check(library.c.dart_set_threads(torch.get_num_threads()))
            self.libraries[device.type] = library
        library = self.libraries[device.type]
        if device.type == "cpu":
            return library, 0
        library.check(library.c.dart_device_set(device.index))
        return library, torch.cuda.current_stream(device).cuda_stream

    def policy_loss(
        self,
        logits: Tensor,
        tokens: Tokens,
        settings: LossSettings,
        out: Tensor,
        statistics: Tensor,
        dlogits: Tensor | None,
    ) -> None:
        """dart_policy_loss on logits [N, V]; nobody looks for targets of V and above: see `check_targets`.

        Writes out [5, N] float32 (LOGP, ENTROPY, RATIO, WEIGHT, TOKEN_LOSS), statistics [16] float64 (abi.STATISTICS)
        and, unless None, dlogits [N, V], which may be `logits`.
        """
        rows, vocabulary = logits.shape
        at, stride, kind = _matrix("logits", logits)
        to, to_stride, to_kind = (0, 0, kind) if dlogits is None else _matrix("dlogits", dlogits)
        if dlogits is not None and (dlogits.shape != logits.shape or dlogits.device != logits.device):
            raise ValueError(
                f"dlogits must have the shape and device of logits, not {list(dlogits.shape)} on {dlogits.device}"
            )
        if out.dtype != torch.float32 or list(out.shape) != [5, rows] or out.device != logits.device:
            raise ValueError(
                f"out must be torch.float32 {[5, rows]} on {logits.device}, not {out.dtype} {list(out.shape)}"
            )

        def floats(name: str, tensor: Tensor | None) -> int:
            return _pointer(name, tensor, torch.float32, [rows], logits.device)

        offsets, bounds = tokens.offsets, 0 if tokens.offsets is None else len(tokens.offsets)
        library, stream = self._open(logits.device)
        size = library.c.dart_policy_loss_workspace(rows)
        workspace = torch.empty(size, dtype=torch.uint8, device=logits.device)
        written = [floats("a row of out", each) for each in out]
        library.call("dart_policy_loss", abi.PolicyLoss(
            rows=rows, vocabulary=vocabulary, logits=at, logits_stride=stride, logits_type=kind,
            dlogits=to, dlogits_stride=to_stride, dlogits_type=to_kind,
            target=_pointer("targets", tokens.targets, torch.int32, [rows], logits.device),
            scale=floats("scale", tokens.scale), advantage=floats("advantage", tokens.advantage),
            old_logp=floats("old_logp", tokens.old_logp), rollout_logp=floats("rollout_logp", tokens.rollout_logp),
            ref_logp=floats("ref_logp", tokens.ref_logp), sequences=max(bounds - 1, 0),
            sequence_offsets=_pointer("offsets", offsets, torch.int32, [bounds], logits.device),
            temperature=settings.temperature, clip_low=settings.clip_low, clip_high=settings.clip_high,
            dual_clip=settings.dual_clip or 0, tis_cap=settings.tis_cap or 0, kl_beta=settings.kl_beta,
            entropy_coefficient=settings.entropy_coef, loss=SURROGATES[settings.surrogate],
            tis_level=LEVELS[settings.tis_level], tis_mode=MODES[settings.tis_mode],
            kl=ESTIMATORS[settings.kl_estimator], logp=written[LOGP], entropy=written[ENTROPY],
            ratio=written[RATIO], weight=written[WEIGHT], token_loss=written[TOKEN_LOSS],
            statistics=_pointer("statistics", statistics, torch.float64, [len(abi.STATISTICS)], logits.device),
            workspace=workspace.data_ptr(), stream=stream,
        ))  # fmt: skip

    def logp_entropy(self, logits: Tensor, targets: Tensor, temperature: float, logp: Tensor, entropy: Tensor) -> None:
        """dart_logp_entropy: writes logp and entropy [N] float32 of logits [N, V]; targets as in `policy_loss`."""
        rows, vocabulary = logits.shape
        at, stride, kind = _matrix("logits", logits)
        library, stream = self._open(logits.device)
        library.call("dart_logp_entropy", abi.LogpEntropy(
            rows=rows, vocabulary=vocabulary, logits=at, logits_stride=stride, logits_type=kind,
            temperature=temperature, stream=stream,
            target=_pointer("targets", targets, torch.int32, [rows], logits.device),
            logp=_pointer("logp", logp, torch.float32, [rows], logits.device),
            entropy=_pointer("entropy", entropy, torch.float32, [rows], logits.device),
        ))  # fmt: skip

    def dpo(
        self, chosen: Tensor, rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor, beta: float
    ) -> tuple[Tensor, ...]:
        """dart_dpo on B pairs, [B] float64 each: the loss [1] and its slopes by `chosen` and by `rejected` [B]."""
        scores = {
            "policy_chosen": chosen,
            "policy_rejected": rejected,
            "ref_chosen": ref_chosen,
            "ref_rejected": ref_rejected,
        }
        device, pairs = chosen.device, len(chosen)
        at = {name: _pointer(name, each, torch.float64, [pairs], device) for name, each in scores.items()}
        loss, d_chosen, d_rejected = chosen.new_zeros(1), torch.zeros_like(chosen), torch.zeros_like(chosen)
        library, stream = self._open(device)
        library.call("dart_dpo", abi.Dpo(
            **at, pairs=pairs, beta=beta, loss=loss.data_ptr(), d_policy_chosen=d_chosen.data_ptr(),
            d_policy_rejected=d_rejected.data_ptr(), stream=stream,
        ))  # fmt: skip
        return loss, d_chosen, d_rejected

    def kto(
        self,
        policy: Tensor,
        ref: Tensor,
        desirable: Tensor,
        beta: float,
        reference_point: float,
        weights: tuple[float, float],
    ) -> tuple[Tensor, Tensor]:
        """dart_kto on B sequences, policy, ref [B] float64, desirable [B] uint8: the loss [1] and its slope by policy.

        `weights` are of the desirable ones and of the others.
        """
        device, size = policy.device, [len(policy)]
        loss, slope = policy.new_zeros(1), torch.zeros_like(policy)
        library, stream = self._open(device)
        library.call("dart_kto", abi.Kto(
            sequences=len(policy), policy=_pointer("policy", policy, torch.float64, size, device),
            ref=_pointer("ref", ref, torch.float64, size, device),
            desirable=_pointer("desirable", desirable, torch.uint8, size, device), beta=beta,
            reference_point=reference_point, desirable_weight=weights[0], undesirable_weight=weights[1],
            loss=loss.data_ptr(), d_policy=slope.data_ptr(), stream=stream,
        ))  # fmt: skip
        return loss, slope


def check_targets(targets: Tensor, vocabulary: int) -> None:
    """Raises ValueError on a target of V and above, which a kernel would read beyond its row. Waits for the device."""
    if len(targets) and int(targets.max()) >= vocabulary:
        row = int(targets.argmax())
        raise ValueError(f"target {int(targets[row])} of token {row} lies beyond the vocabulary of {vocabulary}")
