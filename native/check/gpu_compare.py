"""
gpu_compare.py LIBRARY RECORDS: the CUDA policy loss and AdamW beside eager PyTorch and Liger's Triton GRPO loss, in one process
on the same shapes, where this Python has them. Appends metric records; a ratio is their time by ours. With --rehearse the
library is the emulated one and PyTorch, if there, runs on the CPU.
"""

import argparse
import math
import sys

import dart
import eager
from measure import Metrics, interleaved


def left_out(what):
    print(f"gpu-check: left out: {what}", file=sys.stderr)


def imported():
    """PyTorch, or None after a line that says what is missing."""
    try:
        import torch
    except ImportError:
        return left_out("eager PyTorch and Liger: this Python has no torch (DART_PYTHON names another)")
    return torch


def liger():
    try:
        from liger_kernel.transformers.grpo_loss import triton_grpo_loss
    except Exception as error:  # an import that fails for any reason is an absent comparison
        return left_out(f"Liger's Triton GRPO loss: {type(error).__name__}: {error}")
    return triton_grpo_loss


class Shape:
    """Rows, fewer where PyTorch's temporaries would not fit: 40 bytes an entry is what eager mode takes at its peak."""

    def __init__(self, torch, device, rows, vocabulary, kind):
        if device == "cuda":
            free = torch.cuda.mem_get_info()[0]
            while rows > 64 and rows * vocabulary * 40 > 0.8 * free:
                rows //= 2
        self.rows, self.vocabulary, self.kind = rows, vocabulary, kind
        self.bytes = rows * vocabulary * dart.BYTES[kind]
        self.name = f"N {rows} V {vocabulary} {dart.NAMES[kind]}"


class Inputs:
    """PyTorch tensors that both sides read by their addresses."""

    def __init__(self, torch, device, shape):
        generator = torch.Generator(device).manual_seed(1)
        dtype = torch.float32 if shape.kind == dart.F32 else torch.bfloat16
        self.logits = torch.empty(shape.rows, shape.vocabulary, device=device, dtype=dtype).normal_(0, 2, generator=generator)
        self.target = (torch.arange(shape.rows, device=device) * 37 % shape.vocabulary).int()
        self.long_target = self.target.long()
        self.scale = torch.full((shape.rows,), 1 / shape.rows, device=device)
        self.advantage = torch.cos(torch.arange(shape.rows, device=device, dtype=torch.float32))
        self.old = torch.full((shape.rows,), -math.log(shape.vocabulary) - 2.0, device=device)
        self.out = torch.empty(5, shape.rows, device=device)
        self.statistics = torch.empty(dart.STATISTICS, device=device, dtype=torch.float64)


def ours(torch, library, shape, inputs, work, entropy):
    """The fused loss in place of `work`."""
    workspace = torch.empty(max(16, library.policy_workspace(shape.rows)), device=work.device, dtype=torch.uint8)
    args = dart.PolicyLoss(
        rows=shape.rows, vocabulary=shape.vocabulary, logits=work.data_ptr(), dlogits=work.data_ptr(),
        logits_stride=shape.vocabulary, dlogits_stride=shape.vocabulary, logits_type=shape.kind, dlogits_type=shape.kind,
        target=inputs.target.data_ptr(), scale=inputs.scale.data_ptr(), advantage=inputs.advantage.data_ptr(),
        old_logp=inputs.old.data_ptr(), temperature=1, clip_low=0.2, clip_high=0.28, entropy_coefficient=entropy,
        loss=dart.GRPO, kl=dart.K3, logp=inputs.out[0].data_ptr(), entropy=inputs.out[1].data_ptr(),
        ratio=inputs.out[2].data_ptr(), weight=inputs.out[3].data_ptr(), token_loss=inputs.out[4].data_ptr(),
        statistics=inputs.statistics.data_ptr(), workspace=workspace.data_ptr(),
    )  # fmt: skip
    args.keep = workspace

    def run():
        library.policy_loss(args)
        library.synchronize()

    return lambda: work.copy_(inputs.logits), run


def theirs(torch, sync, inputs, entropy):
    leaf = inputs.logits.clone().requires_grad_(True)

    def before():
        leaf.grad = None

    def run():
        eager.policy_loss(torch, leaf, inputs.long_target, inputs.old, inputs.advantage, inputs.scale, entropy)
        sync()

    return before, run


def triton(torch, sync, function, shape, inputs):
    """Liger's loss on [B, L + 1, V]; one row a sequence more than ours, in place, without entropy."""
    batch = 8 if shape.rows % 8 == 0 else 1
    length = shape.rows // batch
    leaf = torch.randn(batch, length + 1, shape.vocabulary, device=inputs.logits.device, dtype=inputs.logits.dtype, requires_grad=True)
    old, ids = inputs.old.view(batch, length), inputs.long_target.view(batch, length)
    advantage, mask = inputs.advantage[:batch].contiguous(), torch.ones_like(ids)

    def before():
        leaf.grad = None

    def run():
        loss = function(leaf, old, None, ids, advantage, mask, temperature=1.0, beta=0.0, eps_low=0.2, eps_high=0.28)[0]
        loss.sum().backward()
        sync()

    return before, run


def agreement(torch, shape, inputs, work):
    """Greatest difference of our gradient from PyTorch's, in units of the greatest entry."""
    leaf = inputs.logits.clone().requires_grad_(True)
    eager.policy_loss(torch, leaf, inputs.long_target, inputs.old, inputs.advantage, inputs.scale)
    most = max(leaf.grad[row].abs().max().item() for row in range(min(64, shape.rows)))
    gap = max((leaf.grad[row].float() - work[row].float()).abs().max().item() for row in range(min(64, shape.rows)))
    return gap / most


def compare_policy(torch, device, library, metrics, shape, function):
    sync = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    inputs = Inputs(torch, device, shape)
    work = inputs.logits.clone()
    for entropy, label, coefficient in (("none", "dart", 0.0), ("bonus", "dart, entropy bonus", 0.01)):
        calls = {"ours": ours(torch, library, shape, inputs, work, coefficient), "eager": theirs(torch, sync, inputs, entropy)}
        if function and entropy == "none":
            try:
                calls["liger"] = triton(torch, sync, function, shape, inputs)
                calls["liger"][1]()
            except Exception as error:  # another version of its interface, or of Triton
                del calls["liger"]
                left_out(f"Liger's Triton GRPO loss: {type(error).__name__}: {error}")
        times = interleaved(calls, seconds=1.0)
        name = f"policy_loss/{shape.name}, {label}"
        metrics.add(f"{name}, beside PyTorch", 1e3 * times["ours"], "ms", "eager PyTorch", times["eager"] / times["ours"])
        if "liger" in times:
            metrics.add(f"{name}, beside Liger", 1e3 * times["ours"], "ms", "Liger Triton GRPO", times["liger"] / times["ours"])
        if entropy == "none":
            before, run = calls["ours"]
            before()
            run()
            gap = agreement(torch, shape, inputs, work)
            metrics.add(f"{name}, gradient from PyTorch's", gap, "of the greatest entry")
            if not gap <= (2**-6 if shape.kind == dart.BF16 else 1e-4):
                raise RuntimeError(f"{name}: the gradient differs from PyTorch's by {gap} of its greatest entry")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("records")
    parser.add_argument("--rehearse", action="store_true")
    options = parser.parse_args()
    torch = imported()
    if torch is None:
        return 0
    device = "cpu" if options.rehearse else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        left_out("eager PyTorch and Liger: this torch sees no CUDA device")
        return 0
    library = dart.Library(options.library)
    if device == "cuda":
        torch.zeros(1, device="cuda")
    function = liger()
    with open(options.records, "a") as file:
        metrics = Metrics(file)
        sizes = [(8, 1024, dart.BF16), (4, 1031, dart.F32)] if options.rehearse else [(8192, 152_064, dart.BF16), (4096, 151_936, dart.F32)]
        for rows, vocabulary, kind in sizes:
            compare_policy(torch, device, library, metrics, Shape(torch, device, rows, vocabulary, kind), function)
            if device == "cuda":
                torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        print(f"gpu-check: {error}", file=sys.stderr)
        sys.exit(1)
