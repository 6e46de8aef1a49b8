"""Micro-batches: examples packed into a row or padded into rows, and shared out over the ranks."""

from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from .prompts import Encoded


@dataclass(frozen=True)
class MicroBatch:
    """What one forward pass reads."""

    input_ids: Tensor  # [B, L]
    attention_mask: Tensor | None  # [B, L], 0 where a row is padded; None where it is packed
    # [3, B, L] padded; [4, 1, L] packed, where the first row counts each sequence from 0: by it transformers keeps the
    # sequences apart (masking_utils.find_packed_sequence_indices).
    position_ids: Tensor
    image_grid_thw: Tensor | None
    rows: Tensor  # [N], the places in the flattened [B*L] hidden states whose logits predict the targets
    targets: Tensor  # [N] int32, the reply tokens
    offsets: Tensor  # [S+1] int32, where the targets of each sequence begin
    indices: list[int]  # which of the given examples it holds; -1 is a filler and counts nothing
    temperature: float
    parts: list[Encoded]

    @property
    def pixel_values(self) -> Tensor | None:
        """[P, D] of all screenshots, made anew each time that it is asked for."""
        pixels = [part.pixel_values for part in self.parts if part.images]
        return torch.cat(pixels) if pixels else None


def plan(encoded: list[Encoded], max_tokens: int, packed: bool, rank: int, world: int) -> list[MicroBatch]:
    """
    This rank's micro-batches, heaviest first. Every rank gets as many, and those of one place are alike: near in
    tokens, and all with screenshots or all without, since a sharded vision tower runs on every rank or on none. Each
    has one temperature and `max_tokens` at most, padding included, or a single longer example. Examples of one length
    are ordered by id, so that the order of `encoded` does not matter.
    """
    lengths = [len(e.input_ids) for e in encoded]
    order = sorted(range(len(encoded)), key=lambda i: (-lengths[i], encoded[i].sample.id, i))
    groups: dict[bool, dict[float, list[int]]] = {True: {}, False: {}}
    for i in order:
        groups[bool(encoded[i].images)].setdefault(encoded[i].sample.temperature, []).append(i)
    mine: list[MicroBatch] = []
    for alike in groups.values():
        bins = [part for group in alike.values() for part in _bins(group, lengths, max_tokens, packed)]
        bins = _divide(bins, lengths, packed, world)
        for slot in range(0, len(bins), world):
            # Back and forth, so that no rank always has the heaviest.
            place = slot + (rank if slot // world % 2 == 0 else world - 1 - rank)
            if place < len(bins):
                mine.append(_batch([encoded[i] for i in bins[place]], bins[place], packed))
            else:
                shortest = max((i for part in bins for i in part), key=order.index)
                mine.append(_batch([encoded[shortest]], [-1], packed))
    return mine


def _load(part: list[int], lengths: list[int], packed: bool) -> int:
    """Tokens of a micro-batch, padding included."""
    return sum(lengths[i] for i in part) if packed else len(part) * max(lengths[i] for i in part)


def _bins(order: list[int], lengths: list[int], max_tokens: int, packed: bool) -> list[list[int]]:
    """As few micro-batches as the budget lets; `order` goes from long to short."""
    bins: list[list[int]] = []
    if not packed:
        for i in order:
            if bins and _load([*bins[-1], i], lengths, packed) <= max_tokens:
                bins[-1].append(i)
            else:
                bins.append([i])
        return bins
    count = -(-sum(lengths[i] for i in order if lengths[i] <= max_tokens) // max_tokens)
    count += sum(lengths[i] > max_tokens for i in order)
    while any(len(part) > 1 and _load(part, lengths, packed) > max_tokens for part in _level(order, count, lengths)):
        count += 1
    return _level(order, count, lengths)


def _level(order: list[int], count: int, lengths: list[int]) -> list[list[int]]:
    """Each into the emptiest of `count` bins, longest first."""
    bins: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for i in order:
        emptiest = loads.index(min(loads))
        bins[emptiest].append(i)
        loads[emptiest] += lengths[i]
    return bins


def _divide(bins: list[list[int]], lengths: list[int], packed: bool, world: int) -> list[list[int]]:
    """Halves the heaviest until the ranks share evenly, or until none can be halved; heaviest first."""
    while len(bins) % world and any(len(part) > 1 for part in bins):
        heaviest = max((part for part in bins if len(part) > 1), key=lambda part: _load(part, lengths, packed))
        half = (len(heaviest) + 1) // 2
        bins.remove(heaviest)
        bins += _level(heaviest, 2, lengths) if packed else [heaviest[:half], heaviest[half:]]
    return sorted(bins, key=lambda part: -_load(part, lengths, packed))


def _batch(parts: list[Encoded], indices: list[int], packed: bool) -> MicroBatch:
    ids = [part.input_ids for part in parts]
    lengths = [len(sequence) for sequence in ids]
    targets = [part.input_ids[part.reply_start :] for part in parts]
    if packed:
        ends = list(accumulate(lengths))
        input_ids, attention_mask = torch.cat(ids)[None], None
        counted = torch.cat([torch.arange(length) for length in lengths])
        position_ids = torch.cat([counted[None], torch.cat([part.position_ids for part in parts], dim=1)])[:, None]
    else:
        ends = [row * max(lengths) + length for row, length in enumerate(lengths)]
        input_ids = pad_sequence(ids, batch_first=True)
        attention_mask = pad_sequence([torch.ones_like(sequence) for sequence in ids], batch_first=True)
        position_ids = pad_sequence([part.position_ids.T for part in parts], batch_first=True).permute(2, 0, 1)
    grids = [part.image_grid_thw for part in parts if part.image_grid_thw is not None]
    # The logits at a token predict the next one.
    rows = [torch.arange(end - reply - 1, end - 1) for end, reply in zip(ends, map(len, targets))]
    return MicroBatch(
        input_ids, attention_mask, position_ids, torch.cat(grids) if grids else None, torch.cat(rows),
        targets=torch.cat(targets).to(torch.int32),
        offsets=torch.tensor([0, *accumulate(map(len, targets))], dtype=torch.int32),
        indices=indices, temperature=parts[0].sample.temperature, parts=parts,
    )  # fmt: skip
