"""From an example to what the model reads: token ids, pixels of its screenshots, positions in three dimensions."""

import hashlib
import io
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
    examples: the patches of the last used ones are kept, `cache_bytes` of them at most. SampleError where a file is
    missing, altered or no picture.
    """

    def __init__(self, processor: Any, blobs: str, cache_bytes: int = 2 << 30):
        self.processor = processor
        self.blobs = Path(blobs)
        self.cache_bytes = cache_bytes
        self.held = 0
        self._pixels: OrderedDict[str, Tensor] = OrderedDict()
        self._sizes: dict[str, tuple[int, int]] = {}
        self._grids: dict[tuple[int, int], Tensor] = {}

    def shape(self, sha256: str, where: str) -> tuple[Tensor, tuple[int, int]]:
        """
        The grid of patches [3] (time, height, width) and the picture's (width, height). It is not cut for that, since
        another rank may be the one that uses it: what a size becomes is seen on an empty picture.
        """
        if sha256 not in self._sizes:
            image = self._open(sha256, where)
            self._reading(image.verify, sha256, where)
            self._sizes[sha256] = image.size
        size = self._sizes[sha256]
        if size not in self._grids:
            try:
                made = self.processor(images=[Image.new("RGB", size)], return_tensors="pt")
            except ValueError as error:
                raise SampleError(where, f"the screenshot {self._path(sha256)} cannot be used: {error}") from error
            self._grids[size] = made["image_grid_thw"][0]
        return self._grids[size], size

    def pixels(self, sha256: str, where: str) -> Tensor:
        """The patches [P, D], f32."""
        found = self._pixels.pop(sha256, None)
        if found is None:
            image = self._open(sha256, where)
            self._reading(image.load, sha256, where)
            found = self.processor(images=[image], return_tensors="pt")["pixel_values"]
            self.held += found.nbytes
        self._pixels[sha256] = found
        while self.held > self.cache_bytes and len(self._pixels) > 1:
            self.held -= self._pixels.popitem(last=False)[1].nbytes
        return found

    def _path(self, sha256: str) -> Path:
        return self.blobs / sha256[:2] / f"{sha256[2:]}.png"

    def _open(self, sha256: str, where: str) -> Image.Image:
        if not re.fullmatch("[0-9a-f]{64}", str(sha256)):
            raise SampleError(where, f"{sha256!r} is no sha256 of a screenshot")
        data = self._reading(self._path(sha256).read_bytes, sha256, where)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise SampleError(where, f"the screenshot {self._path(sha256)} was altered: its sha256 differs")
        return self._reading(lambda: Image.open(io.BytesIO(data)), sha256, where)

    def _reading(self, read: Callable[[], Any], sha256: str, where: str) -> Any:
        try:
            return read()
        except FileNotFoundError as error:
            raise SampleError(where, f"there is no screenshot {self._path(sha256)}") from error
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise SampleError(where, f"the screenshot {self._path(sha256)} cannot be read: {error}") from error


@dataclass(frozen=True)
class Encoded:
    """
    An example ready for the model: `input_ids` [L] are prompt and reply, the last token included: the targets are
    `input_ids[reply_start:]`. `position_ids` [3, L]; `image_grid_thw` [images, 3] or None.
    """

    sample: Sample
    input_ids: Tensor
    reply_start: int
    position_ids: Tensor
    image_grid_thw: Tensor | None
    images: list[str]
    pictures: Pictures

    @property
    def pixel_values(self) -> Tensor | None:
        """[P, D] of all its screenshots, made when it is asked for: those of a whole update would not fit in memory."""
        if not self.images:
            return None
        return torch.cat([self.pictures.pixels(sha256, self.sample.where) for sha256 in self.images])


class Encoder:
    """
    Turns examples into ids and pixels. `processor` is the checkpoint's (AutoProcessor), `vocabulary` the number of rows
    of the model's LM head, which may be more than the tokenizer has tokens.
    """

    def __init__(
        self, processor: Any, blobs: str, max_length: int, vocabulary: int | None = None, cache_bytes: int = 2 << 30
    ):
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.max_length = max_length
        self.vocabulary = vocabulary or len(self.tokenizer)
        self.pictures = Pictures(processor.image_processor, blobs, cache_bytes)
        self.merge = processor.image_processor.merge_size
        names = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<|im_end|>")
        self.pad, self.video, self.start, self.end, self.stop = self.tokenizer.convert_tokens_to_ids(list(names))

    def encode(self, sample: Sample) -> Encoded:
        """Raises SampleError for an example whose ids, screenshots or length do not fit the checkpoint."""
        images = images_of(sample.messages)
        shapes = [self.pictures.shape(sha256, sample.where) for sha256 in images]
        grids = torch.stack([grid for grid, _ in shapes]) if shapes else None
        prompt = self._prompt(sample, shapes)
        reply = self._reply(sample)
        ids = prompt + reply
        outside = next((token for token in ids if not 0 <= token < self.vocabulary), None)
        if outside is not None:
            raise SampleError(sample.where, f"token {outside} is outside the vocabulary of {self.vocabulary}")
        if len(ids) > self.max_length:
            pads = prompt.count(self.pad)
            what = f"{len(ids)} tokens ({len(prompt)} of the prompt, {pads} of them images, {len(reply)} of the reply)"
            raise SampleError(sample.where, f"{what} are more than max_length {self.max_length}")
        input_ids = torch.tensor(ids, dtype=torch.long)
        positions = image_positions(ids, self.pad, grids, self.merge)
        return Encoded(sample, input_ids, len(prompt), positions, grids, images, self.pictures)

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
        for number, ((begin, end), (grid, size)) in enumerate(zip(runs, shapes), 1):
            if ids[begin - 1 : begin] != [self.start] or ids[end : end + 1] != [self.end]:
                raise SampleError(sample.where, f"image {number} is not between <|vision_start|> and <|vision_end|>")
            wanted = int(grid.prod()) // self.merge**2
            if end - begin not in (1, wanted):
                raise SampleError(sample.where, self._mismatch(number, len(runs), size, end - begin, wanted))
            result += ids[done:begin] + [self.pad] * wanted
            done = end
        result += ids[done:]
        if not result:
            raise SampleError(sample.where, "the prompt is empty")
        return result

    def _mismatch(self, number: int, count: int, size: tuple[int, int], given: int, wanted: int) -> str:
        limits = self.processor.image_processor.size
        return (
            f"image {number} of {count} ({size[0]}x{size[1]}) has {given} tokens in prompt_ids, "
            f"but {wanted} by this checkpoint's processor (min_pixels {limits['shortest_edge']}, "
            f"max_pixels {limits['longest_edge']}). Try: the min_pixels and max_pixels that the server had"
        )


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
    parts = []
    position = 0
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
