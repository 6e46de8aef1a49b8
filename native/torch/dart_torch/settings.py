"""What the request "open" says of model and optimiser, as typed values; lib/training/torch writes them."""

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import torch

T = TypeVar("T")
CHOICES = {
    "dtype": ("bfloat16", "float32"),
    "reference": ("lora-off", "copy", "none"),
    "attention": ("sdpa", "flash_attention_2", "eager"),
}


@dataclass(frozen=True)
class LoraSettings:
    """Adapters of `rank` rows; what they add is scaled by alpha / rank."""

    rank: int
    alpha: float
    dropout: float
    targets: str | list[str]


@dataclass(frozen=True)
class ModelSettings:
    """`micro_tokens`: the most of a micro-batch. `head_chunk`: rows whose logits exist at a time. Pixels: null is as
    the checkpoint's processor has them."""

    dtype: str = "bfloat16"
    lora: LoraSettings | None = None
    freeze_vision: bool = True
    gradient_checkpointing: bool = True
    reference: str = "none"
    attention: str = "sdpa"
    packed: bool = True
    micro_tokens: int = 16384
    head_chunk: int = 1024
    max_length: int = 32768
    offload: bool = False
    min_pixels: int | None = None
    max_pixels: int | None = None

    @property
    def compute(self) -> torch.dtype:
        """The type of activations, logits and gathered weights."""
        return {"bfloat16": torch.bfloat16, "float32": torch.float32}[self.dtype]

    @property
    def pixels(self) -> dict[str, int]:
        """The limits that are given, under the names that image processors have for them."""
        limits = {"shortest_edge": self.min_pixels, "longest_edge": self.max_pixels}
        return {name: value for name, value in limits.items() if value is not None}


@dataclass(frozen=True)
class OptimizerSettings:
    """AdamW; `max_grad_norm` null: no clipping."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    max_grad_norm: float | None = 1.0


def read(kind: type[T], given: dict[str, Any]) -> T:
    """The settings `kind` from a request's object; raises ValueError that names a field which is not one of them."""
    if unknown := sorted(set(given) - {field.name for field in fields(kind)}):  # type: ignore[arg-type]
        raise ValueError(f"{kind.__name__} has no {', '.join(unknown)}")
    return kind(**given)


def read_model(given: dict[str, Any]) -> ModelSettings:
    """The settings of the model; raises ValueError where a value is none of those that there are."""
    lora = given.get("lora")
    settings = read(ModelSettings, {**given, "lora": lora and read(LoraSettings, lora)})
    for name, allowed in CHOICES.items():
        if getattr(settings, name) not in allowed:
            raise ValueError(f"model.{name} must be one of {', '.join(allowed)}, not {getattr(settings, name)}")
    if settings.reference == "lora-off" and settings.lora is None:
        raise ValueError("model.reference lora-off needs model.lora: without adapters it would be the policy itself")
    return settings
