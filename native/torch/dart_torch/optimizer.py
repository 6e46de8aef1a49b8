"""AdamW over the ranks' shards, clipped by the global norm; an update that is not finite changes nothing."""

import math

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from .settings import OptimizerSettings


class Optimizer:
    """
    AdamW (Loshchilov and Hutter 2019) on float32 weights and moments, each rank its own shard. Weight decay on matrices
    only: not on biases and norms.
    """

    def __init__(self, weights: dict[str, nn.Parameter], settings: OptimizerSettings):
        self.weights, self.settings = weights, settings
        decayed = [weight for weight in weights.values() if weight.ndim > 1]
        others = [weight for weight in weights.values() if weight.ndim <= 1]
        groups = [
            {"params": decayed, "weight_decay": settings.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        self.adamw = torch.optim.AdamW(
            [group for group in groups if group["params"]],
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
        Updates the weights with their gradients, which are gone afterwards.

        @param sound False: do not, whatever the gradients are.
        @returns Whether it was done, and the gradients' global norm before clipping. Both are the same on every rank.
        """
        gradients = [weight.grad for weight in self.weights.values() if weight.grad is not None]
        total = torch.nn.utils.get_total_norm(gradients)
        norm = float(total.full_tensor() if isinstance(total, DTensor) else total)
        applied = sound and math.isfinite(norm)
        if applied:
            limit = self.settings.max_grad_norm
            if limit is not None:
                torch.nn.utils.clip_grads_with_norm_(self.weights.values(), limit, total)
            for group in self.adamw.param_groups:
                group["lr"] = lr
            self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)
        return applied, norm

    def state(self) -> dict[str, Tensor]:
        """What a later run goes on from, by name: weights, moments and the number of steps of each; tensors in use."""
        named = {f"weights.{name}": weight.detach() for name, weight in self.weights.items()}
        for name, weight in self.weights.items():
            named |= {f"{key}.{name}": value for key, value in self.adamw.state[weight].items()}
        return named
