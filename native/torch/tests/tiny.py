"""A tiny Qwen2.5-VL, made here with all that a real checkpoint has: weights, tokenizer, image processor, chat template.

    python tiny.py FOLDER [--tie]        writes the checkpoint to FOLDER
"""

import argparse
import hashlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import dart_torch  # noqa: F401  before transformers: it lets torchvision be imported
import torch
from PIL import Image, ImageDraw
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    Qwen2VLImageProcessor,
    Qwen2VLVideoProcessor,
)

SPECIAL = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|box_start|>", "<|box_end|>",
    "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>",
]  # fmt: skip
BYTES = 256  # ids 0–255 are the bytes, the special tokens follow them, the rest of the vocabulary is never met
VOCABULARY = 300
MIN_PIXELS, MAX_PIXELS = 4 * 28 * 28, 32 * 28 * 28  # a screenshot of 1920×1080 becomes 28 tokens

# The form of Qwen2-VL's conversation; an image stands where its part is.
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte, whose id is the byte: "A" is 65. Then Qwen's special tokens, from 256."""
    # Byte-level tokenizers write a byte as a character: itself where it is visible, else one from U+0100 on, in order.
    visible = {*range(33, 127), *range(161, 173), *range(174, 256)}
    hidden = [byte for byte in range(BYTES) if byte not in visible]
    alphabet = {chr(byte if byte in visible else 256 + hidden.index(byte)): byte for byte in range(BYTES)}
    made = Tokenizer(models.BPE(vocab=alphabet, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>", clean_up_tokenization_spaces=False
    )


def processor() -> Qwen2_5_VLProcessor:
    """The processor of Qwen2.5-VL over the tokenizer above, for pictures of few pixels."""
    size = {"shortest_edge": MIN_PIXELS, "longest_edge": MAX_PIXELS}
    return Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(size=size),
        tokenizer=tokenizer(),
        video_processor=Qwen2VLVideoProcessor(size=size),
        chat_template=TEMPLATE,
    )


def config(tie: bool = False, vocabulary: int = VOCABULARY, vision: dict[str, Any] | None = None) -> Qwen2_5_VLConfig:
    """Two text layers of 64, grouped-query attention, and a vision tower with a window block and a full one."""
    ids = {token: BYTES + index for index, token in enumerate(SPECIAL)}
    text = {
        "vocab_size": vocabulary,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "bos_token_id": ids["<|endoftext|>"],
    }
    tower = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_heads": 2,
        "out_hidden_size": 64,
        "window_size": 56,
        "fullatt_block_indexes": [1],
        **(vision or {}),
    }
    return Qwen2_5_VLConfig(
        text_config=text,
        vision_config=tower,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=tie,
    )


def build(
    folder: str | Path,
    tie: bool = False,
    vocabulary: int = VOCABULARY,
    vision: dict[str, Any] | None = None,
    seed: int = 1,
    dtype: torch.dtype = torch.float32,
) -> Path:
    """Saves the checkpoint: `AutoModelForImageTextToText` and `AutoProcessor` load it. One seed, one result."""
    folder = Path(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen2_5_VLForConditionalGeneration(config(tie, vocabulary, vision))
        # Wider than the usual 0.02, so that logits differ visibly between tokens.
        for parameter in model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.1)
        model.tie_weights()
    model.to(dtype).save_pretrained(folder)
    processor().save_pretrained(folder)
    return folder


def keep_blob(blobs: str | Path, data: bytes) -> str:
    """Puts a picture where the worker looks for it, BLOBS/ab/cdef….png; gives its sha256."""
    sha256 = hashlib.sha256(data).hexdigest()
    path = Path(blobs) / sha256[:2] / f"{sha256[2:]}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return sha256


def draw(width: int = 192, height: int = 108, seed: int = 0) -> bytes:
    """A PNG with a coloured window on a desktop; another seed, another picture."""
    image = Image.new("RGB", (width, height), (30 + 40 * seed % 200, 60, 90))
    pen = ImageDraw.Draw(image)
    left, top = width * (seed % 5) // 8, height * (seed % 3) // 6
    pen.rectangle((left, top, left + width // 2, top + height // 2), fill=(220, 220 - 30 * seed % 200, 200))
    data = io.BytesIO()
    image.save(data, format="PNG")
    return data.getvalue()


def screenshots(count: int) -> list[bytes]:
    """`count` PNGs: real screenshots of 1920×1080 where shared/real/dart lies beside the checkout, else drawn ones."""
    shared = os.environ.get("DART_SHARED") or Path(__file__).parents[4] / "shared"
    real = sorted((Path(shared) / "real" / "dart").glob("*/*.png"))[:count]
    return [path.read_bytes() for path in real] + [draw(1920, 1080, seed) for seed in range(count - len(real))]


def conversation(*sha256: str, instruction: str = "open the editor") -> list[dict[str, Any]]:
    """The messages of a step: system text, instruction, and screenshots with the earlier replies between them."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You operate a computer."},
        {"role": "user", "content": [{"type": "text", "text": f"Task: {instruction}"}]},
    ]
    for index, image in enumerate(sha256):
        if index > 0:
            messages.append({"role": "assistant", "content": "Thought: look\nAction: wait()"})
        messages.append({"role": "user", "content": [{"type": "image", "sha256": image}]})
    return messages


def example(
    name: str, messages: list[dict[str, Any]], reply: str = "Thought: done\nAction: finished(content='')", **more: Any
) -> dict[str, Any]:
    """A line of the sample file; `more` replaces its fields."""
    return {
        "id": name,
        "where": f"samples.ndjson:1 ({name})",
        "messages": messages,
        "prompt_ids": None,
        "reply": reply,
        "finish": "stop",
        "reply_ids": None,
        "rollout_logp": None,
        "advantage": 1.0,
        "temperature": 1,
        "episode": -1,
        **more,
    }


def write_samples(path: str | Path, examples: list[dict[str, Any]]) -> Path:
    """Writes a sample file, each example with its line in `where`."""
    lines = [{**e, "where": f"{Path(path).name}:{line} ({e['id']})"} for line, e in enumerate(examples, 1)]
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return Path(path)


def make_samples(folder: str | Path, count: int = 6, real: bool = False) -> tuple[Path, Path]:
    """A sample file of `count` steps of a trajectory, and its blobs; a step sees five screenshots at most."""
    folder = Path(folder)
    pictures = screenshots(count) if real else [draw(seed=seed) for seed in range(count)]
    seen = [keep_blob(folder / "blobs", data) for data in pictures]
    examples = [
        example(
            f"traj-1:{step}",
            conversation(*seen[max(0, step - 4) : step + 1]),
            f"Thought: step {step}\nAction: click(start_box='<|box_start|>({step * 7},{step})<|box_end|>')",
            advantage=(-1.0) ** step * 0.5,
        )
        for step in range(count)
    ]
    return write_samples(folder / "samples.ndjson", examples), folder / "blobs"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="write a tiny Qwen2.5-VL checkpoint")
    parser.add_argument("folder")
    parser.add_argument("--tie", action="store_true", help="one weight for the embedding and the LM head")
    given = parser.parse_args()
    build(given.folder, tie=given.tie)
