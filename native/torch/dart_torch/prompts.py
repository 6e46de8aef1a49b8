"""From an example to what the model reads: token ids, pixels of its screenshots, positions in three dimensions."""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from .samples import Message, Sample, SampleError


class Pictures:
    """
    Screenshots as the checkpoint's own image processor cuts them, and so as the server did. One stands in up to five
    examples: the patches of the last 32 are kept (of 1920x1080 some 50 MB each).
    """

    def __init__(self, processor: Any, blobs: str):
        self.processor, self.blobs = processor, Path(blobs)
        self.size, self.grid, self.pixels = cache(self._size), cache(self._grid), lru_cache(32)(self._pixels)

    def shape(self, sha256: str, where: str) -> tuple[Tensor, tuple[int, int]]:
        """
        The grid of patches [3] (time, height, width) and the picture's (width, height). It is not cut for that, since
        another rank may be the one that uses it. SampleError where a file is missing, altered or no picture.
        """
        path = self._path(sha256)
        try:
            size = self.size(sha256)
        except FileNotFoundError as error:
            raise SampleError(where, f"there is no screenshot {path}. Try: the --blobs folder of the rollouts") from error
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise SampleError(where, f"the screenshot {path} cannot be read: {error}") from error
        try:
            return self.grid(size), size
        except ValueError as error:
            raise SampleError(where, f"the screenshot {path} cannot be used: {error}") from error

    def _path(self, sha256: str) -> Path:
        return self.blobs / sha256[:2] / f"{sha256[2:]}.png"

    def _size(self, sha256: str) -> tuple[int, int]:
        data = self._path(sha256).read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ValueError("it was altered, its sha256 differs")
        image = Image.open(io.BytesIO(data))
        image.verify()
        return image.size

    def _grid(self, size: tuple[int, int]) -> Tensor:
        """What a size becomes is seen on an empty picture."""
        return self.processor(images=[Image.new("RGB", size)], return_tensors="pt")["image_grid_thw"][0]

    def _pixels(self, sha256: str) -> Tensor:
        """The patches [P, D], f32."""
        return self.processor(images=[Image.open(self._path(sha256))], return_tensors="pt")["pixel_values"]


@dataclass(frozen=True)
class Encoded:
    """An example ready for the model."""

    sample: Sample
    input_ids: Tensor  # [L], prompt and reply
    reply_start: int  # the targets are input_ids[reply_start:]
    position_ids: Tensor  # [3, L]
    image_grid_thw: Tensor | None  # [images, 3]
    images: list[str]  # their sha256
    pictures: Pictures

    @property
    def pixel_values(self) -> Tensor | None:
        """[P, D] of all its screenshots, made when it is asked for: those of a whole update would not fit in memory."""
        if not self.images:
            return None
        return torch.cat([self.pictures.pixels(sha256) for sha256 in self.images])


class Encoder:
    """
    Turns examples into ids and pixels. `processor` is the checkpoint's (AutoProcessor), `vocabulary` the number of rows
    of the model's LM head, which may be more than the tokenizer has tokens.
    """

    def __init__(self, processor: Any, blobs: str, max_length: int, vocabulary: int | None = None):
        self.processor, self.tokenizer = processor, processor.tokenizer
        self.max_length, self.vocabulary = max_length, vocabulary or len(self.tokenizer)
        self.pictures = Pictures(processor.image_processor, blobs)
        self.merge = processor.image_processor.merge_size
        names = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<|im_end|>")
        self.pad, self.video, self.start, self.end, self.stop = self.tokenizer.convert_tokens_to_ids(list(names))

    def encode(self, sample: Sample) -> Encoded:
        """Raises SampleError for an example whose ids, screenshots or length do not fit the checkpoint."""
        images = images_of(sample.messages)
        shapes = [self.pictures.shape(sha256, sample.where) for sha256 in images]
        grids = torch.stack([grid for grid, _ in shapes]) if shapes else None
        prompt, reply = self._prompt(sample, shapes), self._reply(sample)
        ids = prompt + reply
        outside = next((token for token in ids if not 0 <= token < self.vocabulary), None)
        if outside is not None:
            what = f"token {outside} is outside the vocabulary of {self.vocabulary}. Try: the checkpoint that sampled it"
            raise SampleError(sample.where, what)
        if len(ids) > self.max_length:
            pads = prompt.count(self.pad)
            what = f"{len(ids)} tokens ({len(prompt)} of the prompt, {pads} of them images, {len(reply)} of the reply)"
            raise SampleError(sample.where, f"{what} are more than max_length {self.max_length}")
        positions = image_positions(ids, self.pad, grids, self.merge)
        return Encoded(sample, torch.tensor(ids), len(prompt), positions, grids, images, self.pictures)

    def _tokens(self, text: str) -> list[int]:
        # Half a surrogate pair, as JavaScript may cut a text, is no text for a tokenizer.
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return self.tokenizer(whole, add_special_tokens=False, verbose=False)["input_ids"]

    def _reply(self, sample: Sample) -> list[int]:
        """The ids that were sampled; else the text's, with the end that the server took off."""
        reply = sample.reply_ids
        if reply is None:
            reply = self._tokens(sample.reply)
            if sample.finish != "length" and reply[-1:] != [self.stop]:
                reply.append(self.stop)
        if not reply:
            raise SampleError(sample.where, "the reply is empty")
        if self.pad in reply or self.video in reply:
            raise SampleError(sample.where, "the reply holds a token that stands for a picture")
        return reply

    def _prompt(self, sample: Sample, shapes: list[tuple[Tensor, tuple[int, int]]]) -> list[int]:
        """The server's ids, or those of the chat template; as many pads for a screenshot as it has tokens."""
        ids = sample.prompt_ids
        if ids is None:
            text = self.processor.apply_chat_template(sample.messages, tokenize=False, add_generation_prompt=True)
            ids = self._tokens(text)
        runs = list(_runs(ids, self.pad))
        if len(runs) != len(shapes):
            what = "prompt_ids have" if sample.prompt_ids is not None else "the conversation's text has"
            raise SampleError(sample.where, f"{what} {len(runs)} images, the messages have {len(shapes)}")
        result: list[int] = []
        done = 0
        for number, ((begin, end), (grid, (width, height))) in enumerate(zip(runs, shapes), 1):
            if ids[begin - 1 : begin] != [self.start] or ids[end : end + 1] != [self.end]:
                raise SampleError(sample.where, f"image {number} is not between <|vision_start|> and <|vision_end|>")
            wanted = int(grid.prod()) // self.merge**2
            if end - begin not in (1, wanted):
                limits = self.processor.image_processor.size
                raise SampleError(
                    sample.where,
                    f"image {number} of {len(runs)} ({width}x{height}) has {end - begin} tokens in prompt_ids, "
                    f"but {wanted} by this checkpoint's processor (min_pixels {limits['shortest_edge']}, "
                    f"max_pixels {limits['longest_edge']}). Try: the min_pixels and max_pixels that the server had",
                )
            result += ids[done:begin] + [self.pad] * wanted
            done = end
        if not ids:
            raise SampleError(sample.where, "the prompt is empty")
        return result + ids[done:]


def images_of(messages: list[Message]) -> list[str]:
    """The sha256 of each screenshot, in the order in which the prompt shows them."""
    parts = [part for message in messages if not isinstance(message["content"], str) for part in message["content"]]
    return [part["sha256"] for part in parts if part["type"] == "image"]


def image_positions(ids: list[int], pad: int, grids: Tensor | None, merge: int) -> Tensor:
    """
    Positions [3, L] (time, height, width) of multimodal rotary embedding (Qwen2-VL, arXiv 2409.12191, section 2.1).
    Text counts on in all three; an image stands at one time, its tokens differ in height and width, and what follows
    begins after its longer side. `grids` [images, 3] counts patches, of which merge x merge become a token.
    """
    images = iter([] if grids is None else grids.tolist())
    parts, position = [], 0
    for is_image, group in groupby(ids, lambda token: token == pad):
        length = len(list(group))
        if not is_image:
            parts.append(torch.arange(position, position + length).expand(3, -1))
            position += length
            continue
        high, wide = (patches // merge for patches in next(images)[1:])
        axes = (torch.arange(1), torch.arange(high), torch.arange(wide))
        parts.append(position + torch.stack(torch.meshgrid(*axes, indexing="ij")).flatten(1))
        position += max(high, wide)
    return torch.cat(parts, dim=1)


def _runs(ids: list[int], pad: int) -> Iterator[tuple[int, int]]:
    """`(begin, end)` of each run of `pad`."""
    begin = 0
    for token, group in groupby(ids):
        end = begin + len(list(group))
        if token == pad:
            yield begin, end
        begin = end
