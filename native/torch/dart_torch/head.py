"""LM head and policy loss together, some rows at a time: no matrix of tokens by vocabulary exists (docs/kernels.md).

For each chunk of rows logits = hidden W^T in the model's type, the kernel turns them into their gradient in place, and
hidden's and W's gradients follow at once: made in the forward pass, handed on in backward.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from . import abi
from .kernels import ENTROPY, LOGP, Kernels, LossSettings, Tokens, check_targets
from .objectives import merge

# Rows of W whose gradient is made at once where it is summed in another type than the model's: bounds what that takes.
COLUMNS = 8192


class Outcome(NamedTuple):
    """A tuple, so that FSDP's hooks find the loss in it."""

    loss: Tensor  # scalar float32 with gradient: sum of scale * token loss
    logp: Tensor  # [N] float32; 0 on ignored rows, -inf where the target's logit is
    entropy: Tensor  # [N] float32, nats
    statistics: dict[str, float]  # abi.STATISTICS


def head_weight(layer: nn.Module) -> tuple[Tensor, Tensor | None]:
    """The weight [V, H] and bias [V] or None that an LM head multiplies by right now.

    Understood are nn.Linear and, of PEFT, a head trained in full (modules_to_save) and LoRA on the head, whose sum
    W + BA is made whole; not LoRA dropout there. Raises ValueError on anything else, and on a weight that is sharded
    right now.
    """
    if hasattr(layer, "modules_to_save"):
        off = layer.disable_adapters or not layer.active_adapters
        return head_weight(layer.original_module if off else layer.modules_to_save[layer.active_adapters[0]])
    if hasattr(layer, "base_layer"):
        weight, bias = head_weight(layer.base_layer)
        names = (
            [] if layer.disable_adapters or layer.merged else [n for n in layer.active_adapters if n in layer.lora_A]
        )
        for name in names:
            if layer.training and getattr(layer.lora_dropout[name], "p", 0) > 0 or layer.use_dora.get(name):
                raise ValueError(
                    "LoRA on the LM head works without dropout and DoRA only. Try: leave lm_head out of the targets"
                )
            weight = weight + layer.get_delta_weight(name)
        return weight, bias
    weight = getattr(layer, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 2:
        raise ValueError(f"an LM head must be a linear layer, not {type(layer).__name__}")
    if isinstance(weight, DTensor):
        raise ValueError(
            "the LM head's weight is sharded: call PolicyHead in the forward of the module that FSDP wraps at the root"
        )
    return weight, layer.bias


class Span(NamedTuple):
    """Rows `begin` to `end` and, where whole sequences matter, their sequences `first` to `last`."""

    begin: int
    end: int
    first: int = 0
    last: int = 0


def spans(rows: int, chunk: int, offsets: list[int] | None = None) -> list[Span]:
    """Cuts N rows into chunks; with offsets only between sequences: one longer than `chunk` is a chunk of its own.

    Raises ValueError on offsets that do not lead from 0 to N.
    """
    if offsets is None:
        return [Span(begin, min(begin + chunk, rows)) for begin in range(0, rows, chunk)]
    if offsets[:1] != [0] or offsets[-1] != rows or any(a > b for a, b in zip(offsets, offsets[1:])):
        raise ValueError(f"offsets must rise from 0 to the {rows} tokens, not {offsets}")
    cuts, first = [], 0
    for last in range(1, len(offsets)):
        if last + 1 < len(offsets) and offsets[last + 1] - offsets[first] <= chunk:
            continue
        cuts.append(Span(offsets[first], offsets[last], first, last))
        first = last
    return [cut for cut in cuts if cut.end > cut.begin]


@dataclass
class _Job:
    """What the autograd function needs beside its tensors, and what it leaves beside them."""

    kernels: Kernels
    tokens: Tokens
    settings: LossSettings
    spans: list[Span]
    differentiate: bool
    accumulate: torch.dtype
    statistics: dict[str, float] = field(default_factory=dict)


def _part(tokens: Tokens, span: Span, by_sequence: bool) -> Tokens:
    rows = [None if each is None else each[span.begin : span.end] for each in tokens[:-1]]
    return Tokens(*rows, tokens.offsets[span.first : span.last + 1] - span.begin if by_sequence else None)


def _logits(hidden: Tensor, weight: Tensor, bias: Tensor | None, buffer: Tensor) -> Tensor:
    out = buffer[: len(hidden)]
    return torch.mm(hidden, weight.t(), out=out) if bias is None else torch.addmm(bias, hidden, weight.t(), out=out)


def _add_product(total: Tensor, dlogits: Tensor, hidden: Tensor) -> None:
    """total [V, H] += dlogits^T [V, n] hidden [n, H], in total's type."""
    if total.dtype == dlogits.dtype:
        total.addmm_(dlogits.t(), hidden)
        return
    for begin in range(0, len(total), COLUMNS):
        columns, part = dlogits[:, begin : begin + COLUMNS].t(), total[begin : begin + COLUMNS]
        if total.is_cuda:  # sums in float32 without a copy of the factors
            part.add_(torch.mm(columns, hidden, out_dtype=total.dtype))
        else:
            part.addmm_(columns.to(total.dtype), hidden.to(total.dtype))


class _HeadLoss(torch.autograd.Function):
    """(hidden [N, H], weight [V, H], bias [V] or None) -> loss, [5, N] of the kernel's numbers."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None, job: _Job) -> tuple[Tensor, Tensor]:
        rows, vocabulary = len(hidden), len(weight)
        wanted = [job.differentiate and each for each in ctx.needs_input_grad[:3]]
        # One chunk's product is summed in float32 by the product itself.
        kind = job.accumulate if len(job.spans) > 1 else weight.dtype
        dhidden = hidden.new_empty(hidden.shape) if wanted[0] else None
        dweight = torch.zeros_like(weight, dtype=kind, memory_format=torch.contiguous_format) if wanted[1] else None
        dbias = torch.zeros_like(bias, dtype=torch.float32) if wanted[2] else None
        out = torch.empty(5, rows, dtype=torch.float32, device=hidden.device)
        statistics = torch.zeros(len(job.spans), len(abi.STATISTICS), dtype=torch.float64, device=hidden.device)
        buffer = hidden.new_empty(max((span.end - span.begin for span in job.spans), default=0), vocabulary)
        for span, sums in zip(job.spans, statistics):
            part = hidden[span.begin : span.end]
            logits = _logits(part, weight, bias, buffer)
            dlogits = logits if any(wanted) else None
            tokens = _part(job.tokens, span, job.settings.by_sequence)
            job.kernels.policy_loss(logits, tokens, job.settings, out[:, span.begin : span.end], sums, dlogits)
            if dhidden is not None:
                torch.mm(logits, weight, out=dhidden[span.begin : span.end])
            if dweight is not None:
                _add_product(dweight, logits, part)
            if dbias is not None:
                dbias += logits.sum(0, dtype=torch.float32)
        job.statistics = merge([dict(zip(abi.STATISTICS, sums)) for sums in statistics.tolist()])
        ctx.gradients = dhidden, None if dweight is None else dweight.to(weight.dtype), dbias
        ctx.mark_non_differentiable(out)
        return statistics[:, abi.STATISTICS.index("loss")].sum().float(), out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dloss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.gradients is None:
            raise RuntimeError("the head's gradients were handed on already: backward works once a forward")
        gradients, ctx.gradients = ctx.gradients, None
        return *(None if each is None else each.mul_(dloss) for each in gradients), None


class PolicyHead(nn.Module):
    """An LM head with the policy loss behind it.

    `layer` is the model's own LM head (see `head_weight`) and stays the model's: its parameters are not listed twice.
    `chunk` is the number of rows whose logits exist at a time. Losses by sequence (gspo, sequence weights) need a
    sequence's mean before its first gradient: there a chunk is whole sequences, and as long as the longest reply at
    least. `accumulate` is the type in which the weight's gradient is summed over chunks.
    """

    def __init__(
        self, layer: nn.Module, kernels: Kernels, chunk: int = 1024, accumulate: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        if chunk < 1:
            raise ValueError(f"a chunk must have at least 1 row, not {chunk}")
        self._layer = (layer,)
        self.kernels, self.chunk, self.accumulate = kernels, chunk, accumulate

    def _weights(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor | None]:
        weight, bias = head_weight(self._layer[0])
        if (
            hidden.dim() != 2
            or hidden.shape[1] != weight.shape[1]
            or (hidden.dtype, hidden.device) != (weight.dtype, weight.device)
        ):
            wanted, got = (f"{t.dtype} {list(t.shape)} on {t.device}" for t in (weight, hidden))
            raise ValueError(
                f"hidden must have the width, type and device of the LM head's weight, {wanted}, not {got}"
            )
        check_targets(targets, len(weight))
        return weight, bias

    def forward(
        self, hidden: Tensor, targets: Tensor, offsets: Tensor | None, scale: Tensor, advantage: Tensor | None,
        old_logp: Tensor | None, rollout_logp: Tensor | None, ref_logp: Tensor | None, settings: LossSettings,
    ) -> Outcome:  # fmt: skip
        """The loss of N tokens whose logits come from hidden [N, H]; the rest as `Tokens` has it.

        Rows of a filler have target -1. Waits for the device twice, whatever the number of chunks. Raises ValueError on
        tensors that do not fit and on targets beyond the vocabulary, RuntimeError from the kernels.
        """
        weight, bias = self._weights(hidden, targets)
        tokens, by_sequence = (
            Tokens(targets, scale, advantage, old_logp, rollout_logp, ref_logp, offsets),
            settings.by_sequence,
        )
        if by_sequence and offsets is None:
            raise ValueError("gspo and sequence weights need the sequences' offsets")
        cuts = spans(len(hidden), self.chunk, offsets.tolist() if by_sequence else None)
        job = _Job(self.kernels, tokens, settings, cuts, torch.is_grad_enabled(), self.accumulate)
        loss, out = _HeadLoss.apply(hidden, weight, bias, job)
        return Outcome(loss, out[LOGP], out[ENTROPY], job.statistics)

    @torch.no_grad()
    def score(self, hidden: Tensor, targets: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
        """logp and entropy [N] float32 of targets [N] int32 (below 0: logp 0), chunk by chunk, without gradient."""
        weight, bias = self._weights(hidden, targets)
        logp, entropy = torch.empty(2, len(hidden), dtype=torch.float32, device=hidden.device)
        cuts = spans(len(hidden), self.chunk)
        buffer = hidden.new_empty(max((cut.end - cut.begin for cut in cuts), default=0), len(weight))
        for begin, end, *_ in cuts:
            logits = _logits(hidden[begin:end], weight, bias, buffer)
            self.kernels.logp_entropy(logits, targets[begin:end], temperature, logp[begin:end], entropy[begin:end])
        return logp, entropy
