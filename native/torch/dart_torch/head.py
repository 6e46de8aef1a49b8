"""LM head and policy loss together, some rows at a time: no matrix of tokens by vocabulary exists (docs/kernels.md).

For each chunk of rows logits = hidden W^T in the model's type, the kernel turns them into their gradient in place, and
hidden's and W's gradients follow at once: made in the forward pass, handed on in backward.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from . import abi
from .kernels import OUT, Kernels, LossSettings, Tokens
from .objectives import merge

# Rows of W whose gradient is made at once where it is summed in another type than the model's: bounds what that takes.
COLUMNS = 8192


class Outcome(NamedTuple):
    """A tuple, so that FSDP's hooks find the loss in it."""

    loss: Tensor  # scalar float32 with gradient: sum of scale * token loss
    logp: Tensor  # [N] float32; 0 on ignored rows, -inf where the target's logit is
    entropy: Tensor  # [N] float32, nats
    statistics: dict[str, float]  # abi.STATISTICS


def head_weight(layer: nn.Module) -> Tensor:
    """The weight [V, H] of an LM head. Raises ValueError on a bias, adapters, and where it is sharded now."""
    if not isinstance(layer, nn.Linear) or layer.bias is not None:
        kind = type(layer).__name__
        raise ValueError(f"an LM head must be linear without bias and adapters, not {kind}. Try: other LoRA targets")
    if isinstance(layer.weight, DTensor):
        raise ValueError(
            "the LM head's weight is sharded: call PolicyHead in the forward of the module that FSDP wraps at the root"
        )
    return layer.weight


class Span(NamedTuple):
    """Rows `begin` to `end` and, where whole sequences matter, their sequences `first` to `last`."""

    begin: int
    end: int
    first: int = 0
    last: int = 0


def spans(rows: int, chunk: int, offsets: list[int] | None = None) -> list[Span]:
    """Cuts N rows into chunks; with offsets only between sequences: one longer than `chunk` is a chunk of its own."""
    if offsets is None:
        return [Span(begin, min(begin + chunk, rows)) for begin in range(0, rows, chunk)]
    cuts, first = [], 0
    for last in range(1, len(offsets)):
        if last + 1 == len(offsets) or offsets[last + 1] - offsets[first] > chunk:
            cuts.append(Span(offsets[first], offsets[last], first, last))
            first = last
    return [cut for cut in cuts if cut.end > cut.begin]


def _part(tokens: Tokens, span: Span, by_sequence: bool) -> Tokens:
    rows = [None if each is None else each[span.begin : span.end] for each in tokens[:-1]]
    return Tokens(*rows, tokens.offsets[span.first : span.last + 1] - span.begin if by_sequence else None)


def _add_product(total: Tensor, dlogits: Tensor, hidden: Tensor) -> None:
    """total [V, H] += dlogits^T [V, n] hidden [n, H], in total's type."""
    if total.dtype == dlogits.dtype:
        total.addmm_(dlogits.t(), hidden)
        return
    for part, columns in zip(total.split(COLUMNS), dlogits.t().split(COLUMNS)):
        if total.is_cuda:  # sums in float32 without a copy of the factors
            part.add_(torch.mm(columns, hidden, out_dtype=total.dtype))
        else:
            part.addmm_(columns.to(total.dtype), hidden.to(total.dtype))


class _HeadLoss(torch.autograd.Function):
    """(hidden [N, H], weight [V, H]) -> loss, the kernel's numbers [5, N] and its statistics of each chunk [., 16]."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, kernels: Kernels, tokens: Tokens, settings: LossSettings,
        cuts: list[Span],
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        by_hidden, by_weight = ctx.needs_input_grad[:2]
        # Over several chunks the weight's gradient is summed in float32; one chunk's product does so by itself.
        kind = torch.float32 if len(cuts) > 1 else weight.dtype
        dhidden = hidden.new_empty(hidden.shape) if by_hidden else None
        dweight = torch.zeros_like(weight, dtype=kind, memory_format=torch.contiguous_format) if by_weight else None
        out = torch.empty(len(OUT), len(hidden), dtype=torch.float32, device=hidden.device)
        statistics = torch.zeros(len(cuts), len(abi.STATISTICS), dtype=torch.float64, device=hidden.device)
        buffer = hidden.new_empty(max((cut.end - cut.begin for cut in cuts), default=0), len(weight))
        for cut, sums in zip(cuts, statistics):
            rows = slice(cut.begin, cut.end)
            logits = torch.mm(hidden[rows], weight.t(), out=buffer[: cut.end - cut.begin])
            part = _part(tokens, cut, settings.by_sequence)
            kernels.policy_loss(logits, part, settings, out[:, rows], sums, by_hidden or by_weight)
            if dhidden is not None:
                torch.mm(logits, weight, out=dhidden[rows])
            if dweight is not None:
                _add_product(dweight, logits, hidden[rows])
        ctx.gradients = dhidden, None if dweight is None else dweight.to(weight.dtype)
        ctx.mark_non_differentiable(out, statistics)
        return statistics[:, abi.STATISTICS.index("loss")].sum().float(), out, statistics

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dloss: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.gradients is None:
            raise RuntimeError("the head's gradients were handed on already: backward works once a forward")
        gradients, ctx.gradients = ctx.gradients, None
        return *(None if each is None else each.mul_(dloss) for each in gradients), None, None, None, None


class PolicyHead(nn.Module):
    """An LM head with the policy loss behind it.

    `layer` is the model's own LM head (see `head_weight`) and stays the model's: its parameters are not listed twice.
    `chunk` is the number of rows whose logits exist at a time. Losses by sequence (gspo, sequence weights) need a
    sequence's mean before its first gradient: there a chunk is whole sequences, and as long as the longest reply at
    least.
    """

    def __init__(self, layer: nn.Module, kernels: Kernels, chunk: int = 1024) -> None:
        super().__init__()
        self._layer = (layer,)
        self.kernels, self.chunk = kernels, chunk

    def _weight(self, targets: Tensor) -> Tensor:
        """The weight; raises ValueError on a target beyond it: a kernel would read beyond the logits."""
        weight = head_weight(self._layer[0])
        if len(targets) and int(targets.max()) >= len(weight):
            row = int(targets.argmax())
            raise ValueError(f"target {int(targets[row])} of token {row} lies beyond the vocabulary of {len(weight)}")
        return weight

    def forward(
        self, hidden: Tensor, targets: Tensor, offsets: Tensor | None, scale: Tensor, advantage: Tensor | None,
        old_logp: Tensor | None, rollout_logp: Tensor | None, ref_logp: Tensor | None, settings: LossSettings,
    ) -> Outcome:  # fmt: skip
        """The loss of N tokens whose logits come from hidden [N, H]; the rest as `Tokens` has it.

        Rows of a filler have target -1. Waits for the device twice, whatever the number of chunks. Raises ValueError on
        tensors that do not fit and on targets beyond the vocabulary, RuntimeError from PyTorch and the kernels.
        """
        weight = self._weight(targets)
        tokens = Tokens(targets, scale, advantage, old_logp, rollout_logp, ref_logp, offsets)
        cuts = spans(len(hidden), self.chunk, offsets.tolist() if settings.by_sequence else None)
        loss, out, sums = _HeadLoss.apply(hidden, weight, self.kernels, tokens, settings, cuts)
        statistics = merge(dict(zip(abi.STATISTICS, chunk)) for chunk in sums.tolist())
        return Outcome(loss, *out[:2], statistics)

    @torch.no_grad()
    def score(self, hidden: Tensor, targets: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
        """logp and entropy [N] float32 of targets [N] int32 (below 0: logp 0), chunk by chunk, without gradient."""
        weight = self._weight(targets)
        logp, entropy = torch.empty(2, len(hidden), dtype=torch.float32, device=hidden.device)
        buffer = hidden.new_empty(min(self.chunk, len(hidden)), len(weight))
        for begin, end, *_ in spans(len(hidden), self.chunk):
            logits = torch.mm(hidden[begin:end], weight.t(), out=buffer[: end - begin])
            self.kernels.logp_entropy(logits, targets[begin:end], temperature, logp[begin:end], entropy[begin:end])
        return logp, entropy
