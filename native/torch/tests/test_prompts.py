"""Ids, screenshots and positions of examples, with numbers that can be worked out by hand."""

import json
import math
import tempfile
import unittest
from pathlib import Path

import tiny
import torch
from transformers import AutoModelForImageTextToText, AutoProcessor

from dart_torch.prompts import Encoder, image_positions
from dart_torch.samples import SampleError, read_samples

PAD = 263  # <|image_pad|>
START, END = 261, 262  # around an image
IM_START, IM_END = 257, 258


class Files(unittest.TestCase):
    """A folder with a checkpoint's processor, and two pictures: 192x108 and 1920x1080."""

    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.blobs = str(cls.folder / "blobs")
        cls.small = tiny.keep_blob(cls.blobs, tiny.draw())
        cls.large = tiny.keep_blob(cls.blobs, tiny.draw(1920, 1080))
        cls.processor = tiny.processor()
        cls.encoder = Encoder(cls.processor, cls.blobs, max_length=4096)

    def samples(self, *examples):
        return read_samples(str(tiny.write_samples(self.folder / "samples.ndjson", list(examples))))

    def encode(self, messages, **fields):
        return self.encoder.encode(self.samples(tiny.example("traj-1:1", messages, **fields))[0])

    def refusal(self, messages, encoder=None, **fields):
        """What is said of an example that is refused."""
        sample = self.samples(tiny.example("traj-1:1", messages, **fields))[0]
        with self.assertRaises(SampleError) as caught:
            (encoder or self.encoder).encode(sample)
        self.assertEqual(caught.exception.where, "samples.ndjson:1 (traj-1:1)")
        return caught.exception.message


class ReadSamples(Files):
    def test_reads_every_field_and_null_as_unscored(self):
        line = tiny.example("a", [], "hi", reply_ids=[104, 105], rollout_logp=[-0.5, None], prompt_ids=[1], episode=3)
        [sample] = self.samples(line)
        self.assertEqual((sample.id, sample.where), ("a", "samples.ndjson:1 (a)"))
        self.assertEqual((sample.reply_ids, sample.prompt_ids, sample.episode), ([104, 105], [1], 3))
        self.assertEqual(sample.rollout_logp[0], -0.5)
        self.assertTrue(math.isnan(sample.rollout_logp[1]))

    def test_names_the_line_and_what_is_wrong_with_it(self):
        good = tiny.example("a", [])
        cases = [
            ({"reply_ids": [1, 2], "rollout_logp": [-1]}, "rollout_logp has 1 entries for 2 reply_ids"),
            ({"rollout_logp": [-1]}, "rollout_logp has 1 entries for 0 reply_ids"),
        ]
        for change, message in cases:
            with self.subTest(change), self.assertRaises(SampleError) as caught:
                self.samples(good, {**good, **change})
            self.assertEqual(caught.exception.where, "samples.ndjson:2 (a)")
            self.assertEqual(caught.exception.message, message)
        del good["finish"]
        path = self.folder / "short.ndjson"
        path.write_text(json.dumps(good) + "\n{")
        with self.assertRaisesRegex(SampleError, "short.ndjson:1: not an example: field 'finish' is missing"):
            read_samples(str(path))


class Encode(Files):
    def test_makes_of_1920x1080_as_many_tokens_as_smart_resize(self):
        # 32 * 28 * 28 pixels at most: both sides shrink by sqrt(1920 * 1080 / 25088) = 9.09, to 211 x 118, and down to
        # multiples of 28: 196 x 112 is 7 x 4 tokens, or 14 x 8 patches of 14 x 14, twice, in three colours.
        encoded = self.encode(tiny.conversation(self.large))
        self.assertEqual(encoded.image_grid_thw.tolist(), [[1, 8, 14]])
        self.assertEqual(encoded.pixel_values.shape, (112, 2 * 3 * 14 * 14))
        self.assertEqual(encoded.input_ids.tolist().count(PAD), 28)

    def test_makes_of_1920x1080_2691_tokens_with_the_limits_of_a_real_checkpoint(self):
        # Qwen2.5-VL's own limits let it stand: 1092 x 1932 is 39 x 69 tokens.
        processor = tiny.processor()
        processor.image_processor.size = {"shortest_edge": 3136, "longest_edge": 12845056}
        sample = self.samples(tiny.example("a", tiny.conversation(self.large)))[0]
        encoded = Encoder(processor, self.blobs, max_length=4096).encode(sample)
        self.assertEqual(encoded.image_grid_thw.tolist(), [[1, 78, 138]])
        self.assertEqual(encoded.input_ids.tolist().count(PAD), 2691)

    def test_renders_a_conversation_and_ends_the_reply(self):
        messages = [
            {"role": "system", "content": "S"},
            {"role": "user", "content": [{"type": "text", "text": "T"}, {"type": "image", "sha256": self.small}]},
            {"role": "assistant", "content": "R"},
        ]
        encoded = self.encode(messages, reply="A")
        # 192 x 108 becomes 196 x 112, 7 x 4 tokens.
        prompt = [IM_START, *b"system\nS", IM_END, 10, IM_START, *b"user\nT", START, *[PAD] * 28, END, IM_END, 10]
        prompt += [IM_START, *b"assistant\nR", IM_END, 10, IM_START, *b"assistant\n"]
        self.assertEqual(encoded.input_ids.tolist(), [*prompt, ord("A"), IM_END])
        self.assertEqual(encoded.reply_start, len(prompt))

    def test_reads_special_tokens_in_a_reply_and_ends_it_only_where_it_ended(self):
        def reply(text, **fields):
            encoded = self.encode(tiny.conversation(self.small), reply=text, **fields)
            return encoded.input_ids[encoded.reply_start :].tolist()

        self.assertEqual(reply("<|box_start|>(1,2)<|box_end|>"), [259, *b"(1,2)", 260, IM_END])
        self.assertEqual(reply("A", finish="length"), [65])
        self.assertEqual(reply("A<|im_end|>"), [65, IM_END])
        self.assertEqual(reply("\ud83d", finish="length"), list("\ufffd".encode()))
        self.assertEqual(reply("A", reply_ids=[66, 67]), [66, 67])

    def test_shows_a_step_its_last_five_screenshots(self):
        # Real ones where they are at hand, all of 1920x1080.
        path, blobs = tiny.make_samples(self.folder / "real", count=6, real=True)
        encoder = Encoder(self.processor, str(blobs), 4096)
        examples = [encoder.encode(sample) for sample in read_samples(str(path))]
        self.assertEqual([e.input_ids.tolist().count(PAD) for e in examples], [28, 56, 84, 112, 140, 140])
        self.assertEqual([len(e.pixel_values) for e in examples], [112, 224, 336, 448, 560, 560])

    def test_keeps_the_servers_ids_and_expands_a_single_pad(self):
        messages = tiny.conversation(self.small, self.large)
        image = [START, *[PAD] * 28, END]
        whole = self.encode(messages, prompt_ids=[1, *image, 2, *image, 3], reply_ids=[4])
        self.assertEqual(whole.input_ids.tolist(), [1, *image, 2, *image, 3, 4])
        single = self.encode(messages, prompt_ids=[1, START, PAD, END, 2, *image, 3], reply_ids=[4])
        self.assertEqual(single.input_ids.tolist(), whole.input_ids.tolist())

    def test_refuses_ids_that_do_not_fit_the_pictures(self):
        image = [START, *[PAD] * 28, END]
        two = tiny.conversation(self.small, self.large)
        message = self.refusal(two, prompt_ids=[1, *image, START, *[PAD] * 2691, END])
        self.assertEqual(
            message,
            "image 2 of 2 (1920x1080) has 2691 tokens in prompt_ids, but 28 by this checkpoint's processor "
            "(min_pixels 3136, max_pixels 25088). Try: the min_pixels and max_pixels that the server had",
        )
        self.assertEqual(self.refusal(two, prompt_ids=[1, *image]), "prompt_ids have 1 images, the messages have 2")
        self.assertEqual(
            self.refusal(tiny.conversation(self.small, instruction="<|image_pad|>")),
            "the conversation's text has 2 images, the messages have 1",
        )
        for alone in ([1, PAD, END], [START, PAD]):
            self.assertEqual(
                self.refusal(tiny.conversation(self.small), prompt_ids=alone),
                "image 1 is not between <|vision_start|> and <|vision_end|>",
            )

    def test_refuses_tokens_that_the_model_has_not_and_replies_of_nothing(self):
        hint = ". Try: the checkpoint that sampled it"
        messages = tiny.conversation(self.small)
        self.assertEqual(self.refusal(messages, reply_ids=[265]), "token 265 is outside the vocabulary of 265" + hint)
        self.assertEqual(self.refusal(messages, reply_ids=[-1]), "token -1 is outside the vocabulary of 265" + hint)
        wider = Encoder(self.processor, self.blobs, max_length=4096, vocabulary=300)
        sample = self.samples(tiny.example("a", messages, reply_ids=[299]))[0]
        self.assertEqual(wider.encode(sample).input_ids[-1], 299)
        self.assertEqual(self.refusal(messages, wider, reply_ids=[300]), "token 300 is outside the vocabulary of 300" + hint)
        self.assertEqual(self.refusal(messages, reply="", finish="length"), "the reply is empty")
        self.assertEqual(self.refusal([], prompt_ids=[]), "the prompt is empty")
        for token in (PAD, 264):
            self.assertIn("stands for a picture", self.refusal(messages, reply_ids=[token]))

    def test_refuses_what_is_longer_than_max_length(self):
        image = [START, *[PAD] * 28, END]
        messages = tiny.conversation(self.small)
        fields = {"prompt_ids": [1, *image], "reply_ids": [2, 3]}
        sample = self.samples(tiny.example("a", messages, **fields))[0]
        self.assertEqual(len(Encoder(self.processor, self.blobs, 33).encode(sample).input_ids), 33)
        self.assertEqual(
            self.refusal(messages, Encoder(self.processor, self.blobs, 32), **fields),
            "33 tokens (31 of the prompt, 28 of them images, 2 of the reply) are more than max_length 32",
        )


class Screenshots(Files):
    def test_names_the_file_that_is_missing_altered_or_no_picture(self):
        gone = "ab" + 62 * "0"
        path = Path(self.blobs) / "ab" / f"{62 * '0'}.png"
        self.assertEqual(self.refusal(tiny.conversation(gone)), f"there is no screenshot {path}. Try: the --blobs folder of the rollouts")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(tiny.draw(seed=1))
        self.addCleanup(path.unlink)
        altered = f"{path} cannot be read: it was altered, its sha256 differs"
        self.assertIn(altered, self.refusal(tiny.conversation(gone)))
        for data in (b"", b"GIF", tiny.draw()[:200], tiny.draw().replace(b"IDAT", b"IDAX")):
            cut = tiny.keep_blob(self.blobs, data)
            self.assertRegex(self.refusal(tiny.conversation(cut)), f"{cut[2:]}.png cannot be read: ")
        line = tiny.keep_blob(self.blobs, tiny.draw(600, 2))
        self.assertRegex(self.refusal(tiny.conversation(line)), f"{line[2:]}.png cannot be used: .*aspect ratio")

    def test_cuts_no_picture_before_its_pixels_are_asked_for(self):
        calls = []

        class Counted:
            """The image processor, counting what it is asked for."""

            def __call__(self, images, **options):
                calls.extend(image.getbbox() is not None for image in images)
                return real(images=images, **options)

        encoder = Encoder(self.processor, self.blobs, 4096)
        real, encoder.pictures.processor = encoder.pictures.processor, Counted()
        other = tiny.keep_blob(self.blobs, tiny.draw(seed=1))
        sample = self.samples(tiny.example("a", tiny.conversation(self.small, other)))[0]
        encoded = encoder.encode(sample)
        # Once an empty picture of their size.
        self.assertEqual(calls, [False])
        self.assertEqual(len(encoded.pixel_values), 2 * 112)
        self.assertEqual(len(encoded.pixel_values), 2 * 112)
        self.assertEqual(calls, [False, True, True])

    def test_keeps_the_pixels_of_the_last_used_32_and_makes_the_others_anew(self):
        pictures = Encoder(self.processor, self.blobs, 4096).pictures
        names = [tiny.keep_blob(self.blobs, tiny.draw(seed=seed)) for seed in range(33)]
        first, second = (pictures.pixels(name) for name in names[:2])
        self.assertIs(pictures.pixels(names[0]), first)
        for name in names[2:]:
            pictures.pixels(name)
        self.assertIs(pictures.pixels(names[0]), first)
        again = pictures.pixels(names[1])
        self.assertIsNot(again, second)
        self.assertTrue(torch.equal(again, second))

    def test_gives_the_pixels_that_the_checkpoints_own_processor_gives(self):
        tiny.processor().save_pretrained(self.folder / "checkpoint")
        processor = AutoProcessor.from_pretrained(self.folder / "checkpoint")
        path = Path(self.blobs) / self.large[:2] / f"{self.large[2:]}.png"
        messages = tiny.conversation(self.large)
        text = processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        expected = processor(text=[text], images=[tiny.Image.open(path)], return_tensors="pt")
        encoded = self.encode(messages)
        self.assertEqual(encoded.input_ids[: encoded.reply_start].tolist(), expected["input_ids"][0].tolist())
        self.assertTrue(torch.equal(encoded.pixel_values, expected["pixel_values"]))


class Positions(Files):
    def test_counts_text_on_and_lets_an_image_stand_at_one_time(self):
        # Two words, an image of 2 x 3 tokens (4 x 6 patches), a word: it begins after the image's longer side.
        positions = image_positions([1, 2, *[PAD] * 6, 3], PAD, torch.tensor([[1, 4, 6]]), 2)
        self.assertEqual(
            positions.tolist(),
            [[0, 1, 2, 2, 2, 2, 2, 2, 5], [0, 1, 2, 2, 2, 3, 3, 3, 5], [0, 1, 2, 3, 4, 2, 3, 4, 5]],
        )
        self.assertEqual(image_positions([1, 2], PAD, None, 2).tolist(), [[0, 1]] * 3)

    def test_agrees_with_the_models_own(self):
        tiny.build(self.folder / "model")
        model = AutoModelForImageTextToText.from_pretrained(self.folder / "model").model
        tall = tiny.keep_blob(self.blobs, tiny.draw(100, 300))
        encoded = self.encode(tiny.conversation(self.small, tall, self.large))
        ids = encoded.input_ids[None]
        expected, _ = model.get_rope_index(ids, (ids == PAD).int(), image_grid_thw=encoded.image_grid_thw)
        self.assertEqual(encoded.position_ids.tolist(), expected[:, 0].tolist())
