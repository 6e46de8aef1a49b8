"""AdamW over the ranks' shards, clipped by the global norm; an update that is not finite changes nothing."""

import math

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from .settings import OptimizerSettings


class Optimizer:
    """AdamW (Loshchilov and Hutter 2019) on float32 weights and moments, each rank its own shard. Weight decay is on
    matrices only: not on biases and norms."""

    def __init__(self, weights: dict[str, nn.Parameter], settings: OptimizerSettings):
        self.weights, self.limit = weights, settings.max_grad_norm
        matrices = [weight for weight in weights.values() if weight.ndim > 1]
        others = [weight for weight in weights.values() if weight.ndim <= 1]
        self.adamw = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}],
            betas=(settings.beta1, settings.beta2),
            eps=settings.epsilon,
            fused=all(weight.is_cuda for weight in weights.values()),
        )
        for weight in weights.values():
            # Made now rather than at the first step, so that what a checkpoint holds does not depend on that.
            moments = {name: torch.zeros_like(weight) for name in ("exp_avg", "exp_avg_sq")}
            steps = torch.zeros((), device=weight.device if weight.is_cuda else None)
            self.adamw.state[weight] = {"step": steps, **moments}

    def step(self, lr: float, sound: bool) -> tuple[bool, float]:
        """
        Updates the weights with their gradients, which are gone afterwards; not where `sound` is False or they are not
        finite. Returns whether it was done, and their global norm before clipping: the same on every rank.
        """
        total = nn.utils.clip_grad_norm_(self.weights.values(), math.inf if self.limit is None else self.limit)
        norm = float(total.full_tensor() if isinstance(total, DTensor) else total)
        applied = sound and math.isfinite(norm)
        if applied:
            for group in self.adamw.param_groups:
                group["lr"] = lr
            self.adamw.step()
        self.adamw.zero_grad()
        return applied, norm

    def state(self) -> dict[str, Tensor]:
        """What a later run goes on from, by name: weights, moments and the number of steps of each; tensors in use."""
        named = {f"weights.{name}": weight.detach() for name, weight in self.weights.items()}
        for name, weight in self.weights.items():
            named |= {f"{key}.{name}": value for key, value in self.adamw.state[weight].items()}
        return named
