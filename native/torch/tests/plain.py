"""The objective of design §9 in plain PyTorch and float64 with autograd, and where the tests find the kernels."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "native" / "torch"))

import torch  # noqa: E402
from dart_torch.kernels import Kernels, LossSettings, Tokens  # noqa: E402
from torch import Tensor  # noqa: E402

torch.set_num_threads(1)


def library(emulated: bool = False) -> str:
    """The CPU's library, or CUDA's sources built for the CPU, which take host pointers, too."""
    path = ROOT / "native" / "build" / ("libdart_cuda_emulated.so" if emulated else "Release/libdart_cpu.so")
    if emulated:
        subprocess.run(["sh", ROOT / "native" / "kernels" / "cuda" / "build_emulated.sh", path], check=True)
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}. Try: make build")
    return str(path)


def kernels(emulated: bool = False) -> Kernels:
    """Kernels on the CPU."""
    return Kernels(library(emulated))


def golden(name: str) -> Path:
    """A file of reference numbers; skips the test where there is none."""
    folder = Path(os.environ.get("DART_SHARED") or ROOT.parent / "shared") / "golden"
    if not folder.exists():
        if "shared" in os.environ.get("DART_TEST_REQUIRE", "").split(","):
            raise FileNotFoundError(f"DART_TEST_REQUIRE asks for shared, but there is no {folder}")
        raise unittest.SkipTest(f"there is no {folder}")
    return folder / name


def log_probabilities(logits: Tensor, targets: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """logp and entropy [N] of logits [N, V]; -inf entries have no mass."""
    logs = torch.log_softmax(logits.double() / temperature, 1)
    inside = logs > -torch.inf
    entropy = -(logs.exp() * torch.where(inside, logs, 0.0)).sum(1)
    return logs.gather(1, targets.long().clamp(min=0)[:, None])[:, 0], entropy


def _known(values: Tensor | None, fallback: Tensor) -> tuple[Tensor, Tensor]:
    """Values in float64 with `fallback` where there is none, and where there is one."""
    if values is None:
        return fallback, torch.zeros_like(fallback, dtype=torch.bool)
    there = values.isfinite()
    return torch.where(there, values.double(), fallback), there


def _mean_of_sequences(values: Tensor, counted: Tensor, offsets: Tensor) -> Tensor:
    """The mean over a sequence's counted tokens, for each of its tokens; 0 where none counts."""
    means = torch.zeros_like(values)
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
        inside = counted[begin:end]
        if inside.any():
            means[begin:end] = values[begin:end][inside].mean()
    return means


def policy_loss(logits: Tensor, tokens: Tokens, settings: LossSettings) -> dict[str, Tensor]:
    """Everything about N tokens from logits [N, V]: `loss` (scalar, with gradient) and [N] arrays."""
    s = settings
    logp, entropy = log_probabilities(logits, tokens.targets, s.temperature)
    scored = (tokens.targets >= 0) & (logp > -torch.inf)
    logp, entropy = torch.where(scored, logp, 0.0), torch.where(scored, entropy, 0.0)
    fixed = logp.detach()
    advantage = torch.ones_like(fixed) if tokens.advantage is None else tokens.advantage.double()
    old, _ = _known(tokens.old_logp, fixed)

    if s.surrogate == "gspo":
        mean = _mean_of_sequences(fixed - old, scored, tokens.offsets)
        ratio = torch.exp(mean + logp - fixed)
    else:
        ratio = torch.exp(logp - old)
    if s.surrogate == "sft":
        surrogate = -advantage * logp
    elif s.surrogate == "cispo":
        surrogate = -ratio.detach().clamp(max=1 + s.clip_high) * advantage * logp
    else:
        surrogate = -torch.minimum(ratio * advantage, ratio.clamp(1 - s.clip_low, 1 + s.clip_high) * advantage)
        if s.dual_clip:
            surrogate = torch.where(advantage < 0, torch.minimum(surrogate, -s.dual_clip * advantage), surrogate)

    weight, truncated = torch.ones_like(fixed), torch.zeros_like(scored)
    rollout, known = _known(tokens.rollout_logp, old)
    if s.tis_cap:
        difference = (old - rollout).clamp(-20, 20)
        if s.tis_level == "sequence":
            difference = _mean_of_sequences(difference, scored & known, tokens.offsets)
        raw = difference.exp()
        truncated = raw > s.tis_cap * (1 + 1e-4)
        weight = raw.clamp(max=s.tis_cap)
        if s.tis_mode == "mask":
            weight = torch.where(truncated, 0.0, weight)
    per_token = surrogate * weight

    reference, compared = _known(tokens.ref_logp, fixed)
    d = (reference - logp).clamp(-20, 20)
    kl = {"k1": -d, "k2": d * d / 2, "k3": d.exp() - d - 1}[s.kl_estimator]
    kl = torch.where(compared & scored, kl, 0.0)
    per_token = per_token + s.kl_beta * kl - s.entropy_coef * entropy
    per_token = torch.where(scored, per_token, 0.0)
    return {
        "loss": (per_token * tokens.scale.double()).sum(), "logp": logp, "entropy": entropy, "weight": weight,
        "scored": scored,
        "clipped": scored & ((ratio > 1 + s.clip_high) | (ratio < 1 - s.clip_low) & (s.surrogate != "cispo")),
        "truncated": truncated & scored, "reference_kl": kl,
        "rollout": scored & known, "log_weight": torch.where(scored & known, old - rollout, 0.0),
    }  # fmt: skip
