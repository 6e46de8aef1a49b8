"""What stands around the policy loss: tokens' shares of the mean, preferences over whole replies, statistics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from . import abi
from .kernels import Kernels


def token_scales(lengths: Sequence[int], aggregation: str, constant: float | None = None) -> list[float]:
    """The factor of each sequence's tokens in the sum of losses: lib/training/scales.ts says the same.

    `lengths` are those of the whole optimiser step, of all ranks and micro-batches: then neither changes the mean. So
    gradients must be summed over the ranks, not averaged. `constant` is Dr. GRPO's, the longest sequence where none is
    given. A sequence of no tokens gets 0 and is not counted. Raises ValueError on another aggregation.
    """
    sequences, tokens = sum(length > 0 for length in lengths), sum(lengths)
    longest = constant if constant is not None else max(lengths, default=0)
    shares = {
        "token-mean": lambda _: 1 / tokens,
        "sequence-mean": lambda length: 1 / (length * sequences),
        "constant": lambda _: 1 / (sequences * longest),
    }
    if aggregation not in shares:
        raise ValueError(f"aggregation must be one of {', '.join(shares)}, not {aggregation!r}")
    return [shares[aggregation](length) if length > 0 else 0.0 for length in lengths]


def spread(values: Sequence[float] | Tensor, offsets: Tensor) -> Tensor:
    """One value a sequence [S] for each of its tokens: [N] float32 on the device of offsets [S + 1]."""
    each = torch.as_tensor(values, dtype=torch.float64, device=offsets.device)
    return each.repeat_interleave(offsets.diff()).float()


def episode_sums(logp: Tensor, offsets: Tensor, episodes: Sequence[int], count: int) -> Tensor:
    """Sums the log-probabilities [N] of sequences, the s-th of episode episodes[s]: [count] float64, all on the CPU.

    Sequences of episode -1 are left out, and so are tokens whose target was excluded (-inf): they have no gradient.
    """
    owner = torch.as_tensor(episodes).repeat_interleave(offsets.diff())
    scored = (owner >= 0) & (logp != -torch.inf)
    return torch.zeros(count, dtype=torch.float64).index_add_(0, owner[scored], logp[scored].double())


@dataclass
class Preference:
    """A loss over episodes. `scales` [E] float64: what scales the tokens of each in the policy loss of kind "sft"."""

    loss: float
    scales: Tensor
    more: dict[str, float]  # named as TRL names them


def dpo(kernels: Kernels, policy: Tensor, reference: Tensor, pairs: Sequence[Sequence[int]], beta: float) -> Preference:
    """Direct preference optimisation (Rafailov et al. 2023) on the episodes' summed log-probabilities [E] float64.

    `pairs` [B, 2]: the chosen and the rejected episode. The loss is the mean over the pairs of all ranks. Raises
    ValueError where there is no pair.
    """
    if not len(pairs):
        raise ValueError("dpo needs at least one pair")
    chosen, rejected = torch.as_tensor(pairs).unbind(1)
    scores = (policy[chosen], policy[rejected], reference[chosen], reference[rejected])
    loss, by_chosen, by_rejected = kernels.dpo(*scores, beta)
    slopes = torch.zeros_like(policy).index_add_(0, chosen, by_chosen).index_add_(0, rejected, by_rejected)
    rewards = beta * (policy - reference)
    good, bad = rewards[chosen], rewards[rejected]
    more = torch.stack([loss[0], good.mean(), bad.mean(), (good - bad).mean(), (good > bad).double().mean()]).tolist()
    names = ("rewards_chosen", "rewards_rejected", "rewards_margins", "rewards_accuracies")
    return Preference(more[0], -slopes, dict(zip(names, more[1:])))


def kto_reference_point(policy: Tensor, reference: Tensor) -> float:
    """TRL's estimate of KL(policy, reference) for `kto`: the mean of policy - reference, at least 0.

    Of completions that belong to other prompts of the batch: their summed log-probabilities [B], of all ranks.
    """
    return max(0.0, float((policy - reference).mean())) if len(policy) else 0.0


def kto(
    kernels: Kernels, policy: Tensor, reference: Tensor, desirable: Sequence[bool], beta: float, reference_point: float,
    desirable_weight: float = 1.0, undesirable_weight: float = 1.0,
) -> Preference:  # fmt: skip
    """Kahneman-Tversky optimisation (Ethayarajh et al. 2024) on the episodes' summed log-probabilities [E] float64.

    The loss is the mean over the episodes of all ranks; `reference_point` has no gradient. A reward's mean is left out
    where no episode is of its kind. Raises ValueError where there is no episode.
    """
    if not len(policy):
        raise ValueError("kto needs at least one episode")
    good = torch.tensor(desirable, dtype=torch.bool)
    weights = desirable_weight, undesirable_weight
    loss, slopes = kernels.kto(policy, reference, good.to(torch.uint8), beta, reference_point, *weights)
    rewards, more = beta * (policy - reference), {"kl": float(reference_point)}
    for name, kind in (("rewards_chosen", good), ("rewards_rejected", ~good)):
        if kind.any():
            more[name] = float(rewards[kind].mean())
    if good.any() and not good.all():
        more["rewards_margins"] = more["rewards_chosen"] - more["rewards_rejected"]
    return Preference(float(loss), -slopes, more)


def merge(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The statistics of several calls or ranks as those of one: sums, and the greatest weight_max."""
    total = dict.fromkeys(abi.STATISTICS, 0.0)
    for part in parts:
        for name in total:
            total[name] = max(total[name], part[name]) if name == "weight_max" else total[name] + part[name]
    return total
