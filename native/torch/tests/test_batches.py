"""Micro-batches: what a row holds, that packing changes nothing, and that a plan leaves nothing out."""

import tempfile
import unittest
from pathlib import Path

import tiny
import torch
from transformers import AutoModelForImageTextToText

from dart_torch.batches import plan
from dart_torch.prompts import Encoded, Encoder
from dart_torch.samples import Sample, read_samples


def encoded(name, length, reply=1, temperature=1.0, images=()):
    """An example of `length` ids 1, 2, 3, … whose last `reply` are the reply's."""
    sample = Sample(name, name, [], None, "", "stop", None, None, 1.0, temperature, -1)
    ids = torch.arange(1, length + 1)
    return Encoded(sample, ids, length - reply, (ids - 1).expand(3, -1), None, list(images), None)


def plans(examples, max_tokens, packed, world):
    return [plan(examples, max_tokens, packed, rank, world) for rank in range(world)]


def tokens(batch):
    return sum(len(part.input_ids) for part in batch.parts)


class MicroBatches(unittest.TestCase):
    def test_packs_sequences_into_a_row(self):
        [batch] = plan([encoded("a", 3, reply=1), encoded("b", 5, reply=2)], 8, True, 0, 1)
        self.assertEqual(batch.indices, [1, 0])
        self.assertEqual(batch.input_ids.tolist(), [[1, 2, 3, 4, 5, 1, 2, 3]])
        self.assertIsNone(batch.attention_mask)
        self.assertEqual(batch.position_ids.shape, (4, 1, 8))
        self.assertEqual(batch.position_ids[0].tolist(), [[0, 1, 2, 3, 4, 0, 1, 2]])
        # The replies are 4, 5 and 3; the places before them predict them.
        self.assertEqual(batch.rows.tolist(), [2, 3, 6])
        self.assertEqual(batch.targets.tolist(), [4, 5, 3])
        self.assertEqual(batch.offsets.tolist(), [0, 2, 3])
        self.assertEqual((batch.targets.dtype, batch.offsets.dtype), (torch.int32, torch.int32))
        self.assertIsNone(batch.pixel_values)
        self.assertIsNone(batch.image_grid_thw)

    def test_pads_rows_on_the_right(self):
        [batch] = plan([encoded("a", 3, reply=1), encoded("b", 5, reply=2)], 10, False, 0, 1)
        self.assertEqual(batch.input_ids.tolist(), [[1, 2, 3, 4, 5], [1, 2, 3, 0, 0]])
        self.assertEqual(batch.attention_mask.tolist(), [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
        self.assertEqual(batch.position_ids.shape, (3, 2, 5))
        self.assertEqual(batch.position_ids[2].tolist(), [[0, 1, 2, 3, 4], [0, 1, 2, 0, 0]])
        # In the flattened rows the second begins at 5.
        self.assertEqual(batch.rows.tolist(), [2, 3, 6])
        self.assertEqual(batch.targets.tolist(), [4, 5, 3])


class Logits(unittest.TestCase):
    def test_are_those_of_single_sequences_packed_and_padded(self):
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as folder:
            path, blobs = tiny.make_samples(Path(folder), count=4)
            encoder = Encoder(tiny.processor(), str(blobs), 4096)
            examples = [encoder.encode(sample) for sample in read_samples(str(path))]
            tiny.build(Path(folder) / "model")
            for attention in ("eager", "sdpa"):
                with self.subTest(attention):
                    model = AutoModelForImageTextToText.from_pretrained(
                        Path(folder) / "model", attn_implementation=attention
                    )
                    self.compare(model.eval(), examples)

    @torch.no_grad()
    def compare(self, model, examples):
        alone = []
        for example in examples:
            ids = example.input_ids[None]
            logits = model(
                input_ids=ids,
                mm_token_type_ids=(ids == model.config.image_token_id).int(),
                pixel_values=example.pixel_values,
                image_grid_thw=example.image_grid_thw,
            ).logits
            alone.append(logits[0, example.reply_start - 1 : -1])
        for packed in (True, False):
            [batch] = plan(examples, 10_000, packed, 0, 1)
            self.assertEqual(sorted(batch.indices), [0, 1, 2, 3])
            expected = torch.cat([alone[index] for index in batch.indices])
            found = self.logits(model, batch, batch.position_ids)
            self.assertGreater(expected.std(), 0.5)
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
            if packed:
                # Without the first row the sequences of a row see each other.
                mixed = self.logits(model, batch, batch.position_ids[1:])
                self.assertGreater((mixed - expected).abs().max(), 0.01)

    def logits(self, model, batch, position_ids):
        """[N, V]: those that predict the replies' tokens."""
        output = model(
            input_ids=batch.input_ids,
            attention_mask=batch.attention_mask,
            position_ids=position_ids,
            pixel_values=batch.pixel_values,
            image_grid_thw=batch.image_grid_thw,
            use_cache=False,
        )
        return output.logits.flatten(0, 1)[batch.rows]


class Plan(unittest.TestCase):
    lengths = [70, 30, 90, 20, 50, 50, 10, 120, 40, 60]

    def test_holds_every_example_once_within_the_budget(self):
        examples = [encoded(f"s{i}", length) for i, length in enumerate(self.lengths)]
        for world in (1, 2, 3):
            for packed in (True, False):
                with self.subTest(world=world, packed=packed):
                    ranks = plans(examples, 100, packed, world)
                    self.assertEqual(len({len(rank) for rank in ranks}), 1)
                    batches = [batch for rank in ranks for batch in rank]
                    indices = [index for batch in batches for index in batch.indices if index >= 0]
                    self.assertEqual(sorted(indices), list(range(10)))
                    for batch in batches:
                        self.assertLessEqual(batch.input_ids.numel(), 120 if 7 in batch.indices else 100)
                        for index, part in zip(batch.indices, batch.parts):
                            self.assertIs(part, examples[index] if index >= 0 else examples[6])

    def test_gives_a_longer_example_a_micro_batch_of_its_own(self):
        [first, second] = plan([encoded("a", 30), encoded("b", 150), encoded("c", 40)], 100, True, 0, 1)
        self.assertEqual((first.indices, second.indices), ([1], [2, 0]))

    def test_takes_one_more_where_the_sum_alone_would_fit(self):
        # 180 tokens would fit twice 100, but no two of 60 fit together.
        batches = plan([encoded(f"s{i}", 60) for i in range(3)], 100, True, 0, 1)
        self.assertEqual([batch.indices for batch in batches], [[0], [1], [2]])

    def test_shares_tokens_evenly(self):
        # 540 tokens; 120 is longer than the budget of 100, the rest fills at least five.
        examples = [encoded(f"s{i}", length) for i, length in enumerate(self.lengths)]
        ranks = plans(examples, 100, True, 2)
        sums = [sum(tokens(batch) for batch in rank) for rank in ranks]
        self.assertEqual(sum(sums), 540)
        self.assertLessEqual(max(sums) - min(sums), 20)
        # Ranks wait for each other at each micro-batch.
        for both in zip(*ranks):
            self.assertLessEqual(abs(tokens(both[0]) - tokens(both[1])), 40)

    def test_halves_a_micro_batch_rather_than_let_a_rank_idle(self):
        examples = [encoded(f"s{i}", 10) for i in range(4)]
        for packed in (True, False):
            self.assertEqual([[b.indices for b in rank] for rank in plans(examples, 100, packed, 1)], [[[0, 1, 2, 3]]])
            indices = [rank[0].indices for rank in plans(examples, 100, packed, 2)]
            self.assertEqual(sorted(len(part) for part in indices), [2, 2])

    def test_fills_ranks_without_work_with_the_shortest(self):
        ranks = plans([encoded("a", 20), encoded("b", 10, reply=4)], 100, True, 4)
        self.assertEqual([[batch.indices for batch in rank] for rank in ranks], [[[0]], [[1]], [[-1]], [[-1]]])
        filler = ranks[3][0]
        self.assertEqual(filler.input_ids.shape, (1, 10))
        self.assertEqual((filler.rows.tolist(), filler.offsets.tolist()), ([5, 6, 7, 8], [0, 4]))

    def test_keeps_temperatures_apart(self):
        examples = [encoded("a", 10, temperature=1.0), encoded("b", 10, temperature=0.6), encoded("c", 10)]
        batches = plan(examples, 100, True, 0, 1)
        self.assertEqual({b.temperature: sorted(b.indices) for b in batches}, {0.6: [1], 1.0: [0, 2]})

    def test_lets_all_ranks_have_pictures_or_none(self):
        examples = [encoded("a", 30, images=["x"]), encoded("b", 20), encoded("c", 10, images=["x"]), encoded("d", 5)]
        examples.append(encoded("e", 8, images=["x"]))
        ranks = plans(examples, 10, True, 2)
        has = [[bool(batch.parts[0].images) for batch in rank] for rank in ranks]
        self.assertEqual(has, [[True, True, False], [True, True, False]])
        self.assertEqual(sum(batch.indices == [-1] for rank in ranks for batch in rank), 1)

    def test_does_not_depend_on_the_order_given(self):
        examples = [encoded(f"s{i}", 10 + i % 2) for i in range(9)]
        for packed in (True, False):
            one = [[e.sample.id for e in batch.parts] for batch in plan(examples, 30, packed, 0, 2)]
            other = [[e.sample.id for e in batch.parts] for batch in plan(examples[::-1], 30, packed, 0, 2)]
            self.assertEqual(one, other)

    def test_of_nothing_is_nothing(self):
        self.assertEqual(plan([], 100, True, 0, 2), [])
