"""
budget.py [CHECKPOINT] [--gpus 1,4,8] [--tflops 989] …: what training a Qwen2.5-VL takes, worked out from its shape: weights,
tokens of a step, memory of a GPU, operations and time of an update. Tables in Markdown, those of docs/training-7b.md by
default. Nothing is measured here; `make gpu-check` measures. CHECKPOINT is a folder with config.json, or that file.
"""

import argparse
import json
import math
import os
from dataclasses import dataclass

GB = 1e9
MERGE, PATCH = 2, 14  # a token is 2 × 2 patches of 14 × 14 pixels
CHANNELS, FRAMES = 3, 2  # a still picture is given twice


@dataclass(frozen=True)
class Shape:
    """A Qwen2.5-VL's sizes; the defaults are those of Qwen2.5-VL-7B, and so of UI-TARS-1.5-7B."""

    hidden: int = 3584
    layers: int = 28
    inner: int = 18944
    heads: int = 28
    key_heads: int = 4
    vocabulary: int = 152_064
    tied: bool = False
    vision_hidden: int = 1280
    vision_layers: int = 32
    vision_inner: int = 3420
    vision_full: int = 4  # its other layers look at windows of `window` pixels only
    window: int = 112

    @classmethod
    def of(cls, config):
        """From what config.json holds, which has the text's sizes at its top or under text_config."""
        text, vision = config.get("text_config", config), config["vision_config"]
        return cls(
            text["hidden_size"], text["num_hidden_layers"], text["intermediate_size"], text["num_attention_heads"],
            text["num_key_value_heads"], text["vocab_size"], config.get("tie_word_embeddings", False), vision["hidden_size"],
            vision["depth"], vision["intermediate_size"], len(vision["fullatt_block_indexes"]), vision["window_size"],
        )  # fmt: skip

    @classmethod
    def read(cls, path):
        """From a checkpoint's folder, or its config.json."""
        with open(os.path.join(path, "config.json") if os.path.isdir(path) else path) as file:
            return cls.of(json.load(file))

    @property
    def keys(self):
        """Width of a layer's keys, and of its values."""
        return self.hidden // self.heads * self.key_heads

    @property
    def linears(self):
        """(in, out) of a text layer's seven matrices: q, k, v, o, gate, up, down."""
        h, k, i = self.hidden, self.keys, self.inner
        return [(h, h), (h, k), (h, k), (h, h), (h, i), (h, i), (i, h)]

    def layer(self):
        """Weights of a text layer: matrices, biases of q, k and v, two norms."""
        return sum(a * b for a, b in self.linears) + self.hidden + 2 * self.keys + 2 * self.hidden

    def vision_layer(self):
        """Weights of a vision layer: qkv and output with biases, gate, up and down with biases, two norms."""
        h, i = self.vision_hidden, self.vision_inner
        return 4 * h * h + 4 * h + 3 * h * i + 2 * i + h + 2 * h

    def merger(self):
        """Weights that turn 2 × 2 patches into a token: a norm and two linear layers."""
        wide = MERGE * MERGE * self.vision_hidden
        return self.vision_hidden + wide * wide + wide + wide * self.hidden + self.hidden

    def vision(self):
        patch = CHANNELS * FRAMES * PATCH * PATCH * self.vision_hidden
        return patch + self.vision_layers * self.vision_layer() + self.merger()

    def matrix(self):
        """Weights of the embedding, and of the LM head."""
        return self.vocabulary * self.hidden

    def text(self):
        """Weights beside the vision tower."""
        return self.layers * self.layer() + self.hidden + self.matrix() * (1 if self.tied else 2)

    def adapters(self, rank):
        """LoRA on the seven matrices of each text layer."""
        return self.layers * rank * sum(a + b for a, b in self.linears)


def smart_resize(height, width, least=3136, most=12_845_056):
    """What a picture becomes: sides of whole tokens, least to most pixels (Qwen2-VL's image processor)."""
    unit = MERGE * PATCH
    high, wide = round(height / unit) * unit, round(width / unit) * unit
    if high * wide > most:
        scale = math.sqrt(height * width / most)
        high, wide = (max(unit, math.floor(side / scale / unit) * unit) for side in (height, width))
    elif high * wide < least:
        scale = math.sqrt(least / (height * width))
        high, wide = (math.ceil(side * scale / unit) * unit for side in (height, width))
    return high, wide


def picture_tokens(height, width):
    high, wide = smart_resize(height, width)
    return high * wide // (MERGE * PATCH) ** 2


@dataclass(frozen=True)
class Step:
    """One sample: a prompt of screenshots and text, and the reply that is learned from."""

    text: int
    reply: int
    pictures: int = 5
    height: int = 1080
    width: int = 1920

    @property
    def picture(self):
        return picture_tokens(self.height, self.width)

    @property
    def tokens(self):
        """<|vision_start|> and <|vision_end|> stand around each screenshot."""
        return self.text + self.reply + self.pictures * (self.picture + 2)


def memory(shape, step, gpus, lora, copy, micro_tokens, chunk):
    """Bytes on each of the GPUs by what they hold; docs/training-7b.md has the reason of each."""
    layer, root = 2 * shape.layer(), 2 * (shape.text() - shape.layers * shape.layer() + shape.merger())
    head, tokens = 2 * shape.matrix(), max(micro_tokens, step.tokens)
    rows = max(1, tokens // step.tokens) * step.reply
    patches = tokens // step.tokens * step.pictures * step.picture * MERGE * MERGE
    trained, whole = (shape.adapters(lora), shape.text()) if lora else (shape.text(), 0)
    state = 16 * trained + 2 * (shape.vision() + whole)
    wide = 2 * (7 * shape.hidden + 2 * shape.keys + 4 * shape.inner)
    recomputed = tokens * (wide + 2 * (2 * shape.inner + 3 * shape.hidden))
    kept = tokens * 2 * shape.hidden * (shape.layers + 1)
    # Peaks one after another; the greatest counts.
    loss = 2 * min(chunk, rows) * shape.vocabulary + (0 if lora else head + (2 * head if rows > chunk else 0))
    backward = recomputed + 2 * layer + (0 if lora else head + layer + 2 * layer)
    # The root's gradients at the end: in bf16 and f32, then in f32 and their sum; one GPU makes one copy more.
    last = 0 if lora else (root - 2 * shape.merger()) * (max(3, 2 + 2 / gpus) if gpus > 1 else 6)
    seeing = patches * (4 * CHANNELS * FRAMES * PATCH * PATCH + 2 * (8 * shape.vision_hidden + 3 * shape.vision_inner))
    return {
        "weights, gradient, moments": state / gpus,
        "reference": (2 * (shape.vision() + shape.text()) / gpus + root) if copy else 0,
        "embedding and head, whole": root,
        "kept for backward": kept,
        "greatest of the passing": max(loss, backward, last - kept, seeing - kept),
    }


def operations(shape, step, lora):
    """Floating-point operations of one step's forward pass and of its training, with recomputation; vision frozen."""
    length, patches = step.tokens, step.pictures * step.picture * MERGE * MERGE
    products = 2 * shape.layers * sum(a * b for a, b in shape.linears) * length
    attention = 2 * length * length * shape.hidden * shape.layers  # causal: half of 4 L² H
    head = 2 * shape.matrix() * step.reply
    inside = (shape.window // PATCH) ** 2
    seen = [inside] * (shape.vision_layers - shape.vision_full) + [step.picture * MERGE * MERGE] * shape.vision_full
    tower = 2 * (shape.vision() - shape.merger()) * patches + 4 * shape.vision_hidden * patches * sum(seen)
    tower += 2 * shape.merger() * patches // (MERGE * MERGE)
    forward = products + attention + head + tower
    # Forward, forward again, gradients of the activations, and of the weights where they are trained.
    train = products * (3 if lora else 4) + attention * 4.5 + head * (2 if lora else 3) + tower
    return forward, train


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def weights_table(shape, lora):
    layer, vision = shape.layer(), shape.vision()
    rows = [
        (f"{shape.layers} text layers", f"{shape.layers} × {layer:,}", shape.layers * layer),
        ("last norm", "", shape.hidden),
        ("embedding", f"{shape.vocabulary:,} × {shape.hidden:,}", shape.matrix()),
        *([] if shape.tied else [("LM head", f"{shape.vocabulary:,} × {shape.hidden:,}", shape.matrix())]),
        (f"vision tower, frozen, {shape.vision_layers} layers", f"{shape.merger():,} of it the merger", vision),
        ("**all**", "", shape.text() + vision),
        ("trained in full", "all but the vision tower", shape.text()),
        (f"trained with LoRA of rank {lora}", "the seven matrices of each text layer", shape.adapters(lora)),
    ]
    return table(["", "", "weights"], [[name, what, f"{size:,}"] for name, what, size in rows])


def tokens_table(steps):
    head = ["", "screenshots", "text", "reply", "tokens"]
    return table(head, [
        [name, f"{s.pictures} × ({s.picture:,} + 2)", f"{s.text:,}", str(s.reply), f"{s.tokens:,}"] for name, s in steps.items()
    ])  # fmt: skip


KINDS = (("full, β = 0", False, False), ("full, β > 0", False, True), ("LoRA, any β", True, False))


def memory_table(shape, step, gpus, options):
    names, rows = [], []
    for name, lora, copy in KINDS:
        for count in gpus:
            rank = options.lora if lora else 0
            parts = memory(shape, step, count, rank, copy, options.micro_tokens, options.head_chunk)
            names, total = [*parts], sum(parts.values()) / GB + options.other
            fits = ["fits" if total <= size * options.fill else "–" for size in options.sizes]
            numbers = [f"{part / GB:.1f}" for part in parts.values()]
            rows.append([name, str(count), *numbers, f"{options.other:.1f}", f"**{total:.0f}**", *fits])
    return table(["", "GPUs", *names, "other, assumed", "GB a GPU", *(str(size) for size in options.sizes)], rows)


def time_table(shape, step, options):
    """Seconds of an update: `samples` steps trained, all of the groups' steps scored once, with β the reference too."""
    head = ["", "10^15 operations a step", "an update", *(f"{n} GPU{'s'[: n > 1]}" for n in options.gpus)]
    rows, kept = [], round(options.samples * options.keep)
    kinds = (("full, β = 0", False, 0), ("full, β > 0", False, 1), ("LoRA, β = 0", True, 0), ("LoRA, β > 0", True, 1))
    for name, lora, copy in kinds:
        forward, train = operations(shape, step, lora)
        update = options.samples * forward + kept * (train + copy * forward)
        times = [update / (n * options.tflops * 1e12 * options.mfu) / 60 for n in options.gpus]
        rows.append([name, f"{train / 1e15:.2f}", f"{update / 1e15:.0f}", *(f"{minutes:.1f} min" for minutes in times)])
    return table(head, rows)


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", nargs="?", help="folder with config.json, or that file (default: Qwen2.5-VL-7B)")
    parser.add_argument("--gpus", type=numbers, default=[1, 2, 4, 8], help="numbers of GPUs that train")
    parser.add_argument("--sizes", type=numbers, default=[80, 141], help="GB of a GPU")
    parser.add_argument("--fill", type=float, default=0.95, help="share of its memory that may be filled")
    parser.add_argument("--other", type=float, default=4, help="GB of CUDA, NCCL and gaps in PyTorch's memory, assumed")
    parser.add_argument("--lora", type=int, default=64, help="rank")
    parser.add_argument("--micro-tokens", type=int, default=16_384)
    parser.add_argument("--head-chunk", type=int, default=1024)
    parser.add_argument("--screen", default="1920x1080")
    parser.add_argument("--samples", type=int, default=640, help="steps of an update's groups")
    parser.add_argument("--keep", type=float, default=0.8, help="share of them that is trained (--keep-entropy)")
    parser.add_argument("--tflops", type=float, default=989, help="a GPU's bf16 products, dense, as its maker states")
    parser.add_argument("--mfu", type=float, default=0.3, help="share of that which is reached, assumed")
    options = parser.parse_args()
    shape = Shape.read(options.checkpoint) if options.checkpoint else Shape()
    width, height = (int(side) for side in options.screen.split("x"))
    # Text: 350 of the system text, 50 of the task, 6 of the template a message, and replies of 90.
    steps = {
        "first step": Step(420, 90, 1, height, width),
        "fifth step and on": Step(420 + 4 * 102, 90, 5, height, width),
        "thirtieth step, 29 replies before": Step(420 + 25 * 96 + 4 * 102, 90, 5, height, width),
    }
    usual = steps["fifth step and on"]
    print(weights_table(shape, options.lora), end="\n\n")
    print(tokens_table(steps), end="\n\n")
    print(memory_table(shape, usual, options.gpus, options), end="\n\n")
    print(time_table(shape, usual, options))


if __name__ == "__main__":
    main()
