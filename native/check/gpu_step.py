"""
gpu_step.py LIBRARY RECORDS [--rehearse]: one training step of a Qwen2.5-VL with random weights on one GPU, by the torch engine's
own model, head and optimiser, beside the same with the loss as eager PyTorch writes it: time by part, memory, records.
The checkpoint is a file of holes, read as any other, and the weights are drawn on the GPU. With --rehearse the model is
tiny, on the CPU, and LIBRARY the emulated one.
"""

import argparse
import itertools
import json
import math
import os
import struct
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import budget
import eager
from measure import Metrics, interleaved

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torch"))

try:
    import dart_torch  # noqa: F401
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor
    from transformers import AutoModelForImageTextToText, Qwen2_5_VLConfig
except ImportError as error:
    print(f"gpu-check: left out: one training step: {error} (DART_PYTHON names another Python)", file=sys.stderr)
    sys.exit(0)

from dart_torch.head import PolicyHead, head_weight
from dart_torch.kernels import Kernels, LossSettings
from dart_torch.model import Policy
from dart_torch.optimizer import Optimizer
from dart_torch.settings import ModelSettings, OptimizerSettings
from dart_torch.worker import Clock

PICTURE, VOCABULARY = 151_655, 151_936  # <|image_pad|> and the LM head's rows of the small Qwen2.5
SIZES = {"3B": (2048, 36, 11_008, 16), "0.5B": (896, 24, 4864, 14), "tiny": (64, 2, 96, 4)}  # hidden, layers, MLP, heads
PARTS = ("forward", "head", "backward", "optimizer")


def config(size):
    """Qwen2.5-VL-3B; its vision tower before the text layers of Qwen2.5-0.5B, for GPUs of less memory; and a tiny one."""
    vision = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16}
    picture, vocabulary = PICTURE, VOCABULARY
    if size == "tiny":
        vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "window_size": 56}
        vision["fullatt_block_indexes"] = [1]
        picture, vocabulary = 1030, 1031
    hidden, layers, inner, heads = SIZES[size]
    head = hidden // heads
    text = {
        "hidden_size": hidden, "num_hidden_layers": layers, "intermediate_size": inner, "num_attention_heads": heads,
        "num_key_value_heads": 2, "vocab_size": vocabulary, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [head // 8, head * 3 // 16, head * 3 // 16]},
    }  # fmt: skip
    return Qwen2_5_VLConfig(
        text_config=text, vision_config={**vision, "out_hidden_size": hidden}, image_token_id=picture, tie_word_embeddings=True
    )


def checkpoint(folder, made):
    """Writes config.json and a safetensors file whose numbers are a hole: it takes no disk and reads as zeros."""
    made.save_pretrained(folder)
    with torch.device("meta"):
        model = AutoModelForImageTextToText.from_config(made, dtype=torch.bfloat16)
    header, end = {}, 0
    for name, weight in model.named_parameters():  # a tied weight once
        begin, end = end, end + weight.numel() * 2
        header[name] = {"dtype": "BF16", "shape": list(weight.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


@torch.no_grad()
def draw(policy):
    """Random weights in place of the zeros, as they are initialised: norms 1, biases 0."""
    for name, weight in policy.named_parameters():
        own = weight.to_local() if isinstance(weight, DTensor) else weight
        if weight.dim() > 1:
            own.normal_(0, 0.02)
        else:
            own.fill_(0 if name.endswith("bias") else 1)


class Batch:
    """A micro-batch of random tokens as the engine's are: `sequences` of alike length in one row, the first with pictures."""

    def __init__(self, made, device, length, reply, sequences=1, pictures=0, height=1080, width=1920):
        draws = torch.Generator(device).manual_seed(1)
        ids = torch.randint(1, made.image_token_id - 2, (sequences, length), device=device, generator=draws)
        pixels = grid = None
        if pictures:
            high, wide = (side // budget.PATCH for side in budget.smart_resize(height, width))
            per = high * wide // budget.MERGE**2
            for number in range(pictures):
                ids[0, 1 + number * (per + 2) : 1 + number * (per + 2) + per] = made.image_token_id
            grid = torch.tensor([[1, high, wide]] * pictures, device=device)
            depth = budget.CHANNELS * budget.FRAMES * budget.PATCH**2
            pixels = torch.randn(pictures * high * wide, depth, device=device, generator=draws)
        starts = torch.arange(sequences, device=device)[:, None] * length
        self.targets = ids[:, length - reply :].flatten().int()
        self.rows = sequences * reply
        self.offsets = torch.arange(sequences + 1, device=device, dtype=torch.int32) * reply
        self.advantage = torch.cos(torch.arange(self.rows, device=device, dtype=torch.float32))
        self.scale = torch.full((self.rows,), 1 / self.rows, device=device)
        self.old = torch.full((self.rows,), -math.log(made.text_config.vocab_size), device=device)
        self.model = SimpleNamespace(
            input_ids=ids.view(1, -1), attention_mask=None, pixel_values=pixels, image_grid_thw=grid,
            position_ids=torch.arange(length, device=device).repeat(sequences)[None, None].expand(4, 1, -1),
            rows=(starts + torch.arange(length - reply - 1, length - 1, device=device)).flatten(),
        )  # fmt: skip
        self.step = budget.Step(length - pictures * (per + 2) - reply if pictures else length - reply, reply, pictures, height, width)
        self.tokens, self.name = sequences * length, f"{sequences * length} tokens, {self.rows} of replies, {pictures} screenshots"


class Trainer:
    """The engine's policy and optimiser on one rank; the learning rate is 0, so that each step is the same."""

    def __init__(self, folder, device, library):
        self.device = device
        kernels = Kernels(cpu=library, cuda=library)
        self.chunk = 16 if device.type == "cpu" else 1024
        settings = ModelSettings(head_chunk=self.chunk)
        mesh = init_device_mesh(device.type, (1,))
        self.policy = Policy(folder, settings, mesh, device, lambda layer: PolicyHead(layer, kernels, settings.head_chunk), 1)
        draw(self.policy)
        self.policy.train()
        self.optimizer = Optimizer(self.policy.trainable(), OptimizerSettings())
        self.settings = LossSettings(clip_low=0.2, clip_high=0.28)

    def step(self, batch, plain):
        """Seconds by part, loss and gradient norm of one step; `plain`: whole logits and a loss in eager PyTorch."""
        clock = Clock(self.device)

        def run(head, hidden):
            clock.lap("forward")
            if plain:
                logits = torch.nn.functional.linear(hidden, head_weight(head._layer[0]))
                given = (batch.targets.long(), batch.old, batch.advantage, batch.scale)
                loss = eager.loss(torch, logits, *given, "reported")
            else:
                args = (batch.targets, batch.offsets, batch.scale, batch.advantage, batch.old, None, None, self.settings)
                loss = head(hidden, *args).loss
            clock.lap("head")
            return loss

        loss = self.policy(batch.model, run)
        loss.backward()
        clock.lap("backward")
        _, norm = self.optimizer.step(0.0, True)
        clock.lap("optimizer")
        return clock.seconds(), float(loss.detach()), norm


def peak(call):
    """The most bytes of the GPU that PyTorch holds while it runs."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    call()
    return torch.cuda.max_memory_allocated()


def compare(metrics, trainer, shape, size, batch, rounds):
    name, found = f"training step/{size}, {batch.name}", {"ours": [], "eager": []}
    calls = {key: (lambda: None, lambda key=key: found[key].append(trainer.step(batch, key == "eager"))) for key in found}
    times = interleaved(calls, rounds=rounds, seconds=8)
    ours = found["ours"][1:]
    metrics.add(name, 1e3 * times["ours"], "ms", "eager loss", times["eager"] / times["ours"])
    for part in PARTS:
        metrics.add(f"{name}: {part}", 1e3 * sorted(seconds[part] for seconds, *_ in ours)[len(ours) // 2], "ms")
    if trainer.device.type == "cuda":
        memory = {key: peak(run) for key, (_, run) in calls.items()}
        metrics.add(f"{name}: memory", memory["ours"] / budget.GB, "GB", "eager loss", memory["eager"] / memory["ours"])
        foreseen = sum(budget.memory(shape, batch.step, 1, 0, False, batch.tokens, trainer.chunk).values())
        metrics.add(f"{name}: memory, worked out", foreseen / budget.GB, "GB", "the measured", memory["ours"] / foreseen)
        work = budget.operations(shape, batch.step, False)[1] * (batch.tokens // batch.step.tokens)
        metrics.add(f"{name}: rate", work / times["ours"] / 1e12, "TFLOP/s")
    for what, place in (("loss", 1), ("gradient norm", 2)):
        mine, other = (found[key][-1][place] for key in ("ours", "eager"))
        gap = abs(mine - other) / abs(other)
        metrics.add(f"{name}: {what} from eager's", gap, "of it")
        if not gap <= 0.02:
            raise RuntimeError(f"{name}: the {what}, {mine}, differs from eager PyTorch's, {other}")


def fitting(device):
    """The largest model that leaves room for an eager loss: some 22 bytes a logit."""
    free = torch.cuda.mem_get_info(device)[0]
    for size in ("3B", "0.5B"):
        shape, step = shape_of(config(size)), budget.Step(1536, 512, 0)
        if sum(budget.memory(shape, step, 1, 0, False, 16_384, 1024).values()) + 22 * 4096 * VOCABULARY < 0.9 * free:
            return size
    return None


def shape_of(made):
    return budget.Shape.of(made.to_dict())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("records")
    parser.add_argument("--rehearse", action="store_true")
    options = parser.parse_args()
    if not options.rehearse and not torch.cuda.is_available():
        print("gpu-check: left out: one training step: this torch sees no CUDA device", file=sys.stderr)
        return 0
    device = torch.device("cpu" if options.rehearse else "cuda:0")
    size = "tiny" if options.rehearse else fitting(device)
    if size is None:
        print("gpu-check: left out: one training step: less than 30 GB of the GPU are free", file=sys.stderr)
        return 0
    if options.rehearse:
        torch.set_num_threads(1)
    dist.init_process_group("gloo" if options.rehearse else "cpu:gloo,cuda:nccl", store=dist.HashStore(), rank=0, world_size=1)
    made = config(size)
    with tempfile.TemporaryDirectory() as folder, open(options.records, "a") as file:
        checkpoint(Path(folder), made)
        trainer = Trainer(Path(folder), device, os.path.abspath(options.library))
        shapes = [(48, 16, 1, 2, 112, 112), (32, 24, 2, 0)] if options.rehearse else [(14_383, 90, 1, 5), (2048, 512, 8, 0)]
        for shape, rounds in zip(shapes, itertools.repeat(1 if options.rehearse else 4)):
            compare(Metrics(file), trainer, shape_of(made), size, Batch(made, device, *shape), rounds)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError, ValueError) as error:
        print(f"gpu-check: one training step: {error}", file=sys.stderr)
        sys.exit(1)
