"""Versions on disk: what `from_pretrained` makes of them, and going on from one."""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plain  # noqa: F401  first: it says where dart_torch is
import tiny
import torch
from dart_torch.checkpoint import limit_pixels, restore, shards
from dart_torch.model import weight_files
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoModelForImageTextToText, AutoProcessor
from worlds import GRPO, World

LORA = {"rank": 4, "alpha": 8, "dropout": 0.3, "targets": "all-linear"}


class Versions(unittest.TestCase):
    folder: Path
    file: Path
    world: World

    @classmethod
    def setUpClass(cls) -> None:
        cls.held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.held.cleanup)
        cls.folder = Path(cls.held.name)
        tiny.build(cls.folder / "base")
        tiny.build(cls.folder / "half", dtype=torch.bfloat16, tie=True)
        cls.file, cls.blobs = tiny.make_samples(cls.folder / "samples", 5)
        cls.world = World(2)
        cls.addClassCleanup(cls.world.__exit__)

    def new(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))

    def save(self, world: World, state: bool = True) -> tuple[Path, list[str]]:
        folder = self.new()
        return folder, world.ask("save", folder=str(folder), state=state)["files"]

    def losses(self, world: World, count: int) -> list[float]:
        """Of `count` steps; they never are those of a policy that stays as it is."""
        losses = [world.step(self.file, "sft", lr=3e-3)["loss"] for _ in range(count)]
        self.assertEqual(len(set(losses)), count)
        return losses

    def check_restore(self, checkpoint: str, **model: Any) -> tuple[Path, list[float]]:
        """Save after two steps, three more, back, and the same three again; and again from a fresh start."""
        open_as = {"checkpoint": self.folder / checkpoint, "blobs": self.blobs, "objective": GRPO, **model}
        self.world.open(**open_as)
        self.losses(self.world, 2)
        folder, _ = self.save(self.world)
        wanted = self.losses(self.world, 3)
        self.world.ask("restore", folder=str(folder))
        self.assertLess(max(abs(a - b) for a, b in zip(self.losses(self.world, 3), wanted)), 1e-6)
        self.world.open(**open_as)
        self.world.ask("restore", folder=str(folder))
        self.assertLess(max(abs(a - b) for a, b in zip(self.losses(self.world, 3), wanted)), 1e-6)
        return folder, wanted

    def test_a_restored_full_run_goes_on_as_if_it_had_not_stopped_on_other_ranks_too(self) -> None:
        folder, wanted = self.check_restore("base")
        with World(1) as alone:
            alone.open(self.folder / "base", self.blobs)
            alone.ask("restore", folder=str(folder))
            self.assertLess(max(abs(a - b) for a, b in zip(self.losses(alone, 3), wanted)), 1e-4)

    def test_a_restored_lora_run_with_dropout_goes_on_as_if_it_had_not_stopped(self) -> None:
        self.check_restore("base", lora=LORA, freeze_vision=True)

    def test_a_bfloat16_run_keeps_its_float32_weights(self) -> None:
        self.check_restore("half", dtype="bfloat16")

    def test_a_full_version_is_a_checkpoint_with_the_names_types_and_files_of_its_base(self) -> None:
        self.world.open(self.folder / "half", self.blobs, dtype="bfloat16", max_pixels=20_000)
        self.losses(self.world, 2)
        folder, files = self.save(self.world, state=False)
        base = self.folder / "half"
        self.assertEqual(files, sorted(path.name for path in base.iterdir()))
        self.assertEqual((folder / "config.json").read_bytes(), (base / "config.json").read_bytes())
        before, after = load_file(base / "model.safetensors"), load_file(folder / "model.safetensors")
        forms = [{name: (value.dtype, value.shape) for name, value in each.items()} for each in (before, after)]
        self.assertEqual(*forms)
        self.assertEqual([name for name in before if torch.equal(before[name], after[name])], [])
        processor = AutoProcessor.from_pretrained(folder)
        self.assertEqual(processor.image_processor.size["longest_edge"], 20_000)
        self.assertEqual(processor.image_processor.size["shortest_edge"], tiny.MIN_PIXELS)
        model = AutoModelForImageTextToText.from_pretrained(folder)
        self.assertEqual(model.lm_head.weight.data_ptr(), model.get_input_embeddings().weight.data_ptr())

    def test_the_saved_model_gives_the_entropies_that_the_trained_one_has(self) -> None:
        self.world.open(self.folder / "base", self.blobs)
        self.losses(self.world, 2)
        folder, _ = self.save(self.world, state=False)
        trained = self.world.ask("score", file=str(self.file))
        self.world.open(folder, self.blobs, packed=False)
        loaded = self.world.ask("score", file=str(self.file))
        for a, b in zip(trained["entropy"], loaded["entropy"]):
            self.assertAlmostEqual(a, b, delta=1e-5)

    def test_adapters_name_their_base_and_begin_without_effect(self) -> None:
        self.world.open(self.folder / "base", self.blobs, lora=LORA, freeze_vision=True)
        folder, files = self.save(self.world)
        self.assertLessEqual({"adapter_model.safetensors", "adapter_config.json", "state/.metadata"}, set(files))
        config = json.loads((folder / "adapter_config.json").read_text())
        self.assertEqual(config["base_model_name_or_path"], str(self.folder / "base"))
        self.assertEqual((config["r"], config["lora_alpha"]), (4, 8))
        with safe_open(folder / "adapter_model.safetensors", "pt") as opened:
            names = list(opened.keys())
            # A and B of seven matrices in two layers; none of the tower's or the head's.
            self.assertEqual(len(names), 2 * 7 * 2)
            self.assertTrue(all(name.startswith("base_model.model.model.language_model.layers.") for name in names))
            self.assertTrue(all(not opened.get_tensor(name).any() for name in names if "lora_B" in name))
            self.assertTrue(all(opened.get_tensor(name).any() for name in names if "lora_A" in name))

    def test_a_state_of_other_settings_is_refused_with_the_reason(self) -> None:
        with World(1) as world:
            world.open(self.folder / "base", self.blobs, lora=LORA, freeze_vision=True)
            folder, _ = self.save(world)
            world.open(self.folder / "base", self.blobs)
            world.send("restore", folder=str(folder))
            self.assertIn("saved with other model settings", world.answer()["error"]["message"])


class Files(unittest.TestCase):
    def test_a_file_is_full_before_the_limit_and_one_large_tensor_has_its_own(self) -> None:
        sizes = {"a": 3, "b": 3, "c": 4, "d": 20, "e": 1}
        self.assertEqual(shards(sizes, 10), [["a", "b", "c"], ["d"], ["e"]])

    def test_what_a_folder_lacks_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for made, words in (
                (None, "has no config.json"),
                ("config.json", "neither model.safetensors nor"),
                ("model.safetensors.index.json", "lacks part-2.safetensors"),
            ):
                if made:
                    index = {"weight_map": {"a": "part-1.safetensors", "b": "part-2.safetensors"}}
                    (folder / made).write_text(json.dumps(index))
                    (folder / "part-1.safetensors").touch()
                with self.assertRaisesRegex(FileNotFoundError, words):
                    weight_files(folder)
            with self.assertRaisesRegex(FileNotFoundError, "is no folder"):
                weight_files(folder / "org" / "model")

    def test_a_version_without_state_is_none_to_go_on_from(self) -> None:
        with tempfile.TemporaryDirectory() as name, self.assertRaisesRegex(ValueError, "no state to go on from"):
            restore(Path(name), None, None, None)

    def test_limits_of_pixels_stand_where_old_and_new_servers_look(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "preprocessor_config.json"
            for before, after in (
                ({"min_pixels": 1, "max_pixels": 2}, {"min_pixels": 1, "max_pixels": 9}),
                ({"size": {"shortest_edge": 1, "longest_edge": 2}},
                 {"size": {"shortest_edge": 1, "longest_edge": 9}, "max_pixels": 9}),
            ):  # fmt: skip
                path.write_text(json.dumps(before))
                limit_pixels(path, {"longest_edge": 9})
                self.assertEqual(json.loads(path.read_text()), after)


if __name__ == "__main__":
    unittest.main()
