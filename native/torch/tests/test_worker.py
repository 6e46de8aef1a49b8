"""The trainer as the driver meets it: the protocol, faults of examples, and ranks that fail or die."""

import json
import os
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plain  # noqa: F401  first: it says where dart_torch is
import tiny
from safetensors.torch import load_file
from dart_torch.protocol import finite
from dart_torch.settings import read_model
from worlds import GRPO, World, until

# Run in place of the trainer: it with a fault of rank 1's in every step.
BROKEN = """
import os, runpy
from dart_torch import worker
opened = worker.Worker.open
def chatty(self, request):
    print("a library's chatter on stdout")
    return opened(self, request)
worker.Worker.open = chatty
if os.environ["RANK"] == "1":
    def step(self, request):
        raise RuntimeError("the fan fell off")
    worker.Worker.step = step
runpy.run_module("dart_torch", run_name="__main__")
"""

# The trainer, which tells of each micro-batch.
TELLING = """
import runpy
from dart_torch import protocol
protocol.PROGRESS = 0
runpy.run_module("dart_torch", run_name="__main__")
"""


class Trainer(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.held.cleanup)
        cls.folder = Path(cls.held.name)
        tiny.build(cls.folder / "base")
        cls.file, cls.blobs = tiny.make_samples(cls.folder / "samples", 3)

    def weights(self, world: World) -> dict:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        world.ask("save", folder=str(folder), state=False)
        return load_file(folder / "model.safetensors")

    def test_what_it_says_of_itself_and_what_it_takes_in_stride(self) -> None:
        script = self.folder / "telling.py"
        script.write_text(TELLING)
        with World(2, script) as world:
            opened = world.open(self.folder / "base", self.blobs)
            self.assertGreater(opened.pop("memory_bytes"), 1 << 20)
            self.assertEqual(
                opened,
                {"parameters": 180896, "trainable": 180896, "vocabulary": 300, "world_size": 2, "device": "cpu",
                 "backend": "gloo", "dtype": "float32"},
            )  # fmt: skip
            with self.subTest("an example that cannot be used is told, and work goes on"):
                lines = [json.loads(line) for line in self.file.read_text().splitlines()]
                lines[1]["reply"] = ""
                lines[1]["finish"] = "length"
                bad = tiny.write_samples(self.folder / "bad.ndjson", lines)
                world.send("step", file=str(bad), lr=1e-3, kind="policy", on_policy=True, fresh=True)
                error = world.answer()["error"]
                self.assertEqual(error["kind"], "sample")
                self.assertEqual((error["where"], error["message"]), ("bad.ndjson:2 (traj-1:1)", "the reply is empty"))
            with self.subTest("an update that is not finite changes nothing"):
                before = self.weights(world)
                lines = [{**json.loads(line), "advantage": 3e38} for line in self.file.read_text().splitlines()]
                answer = world.step(tiny.write_samples(self.folder / "huge.ndjson", lines), lr=1.0)
                self.assertFalse(answer["applied"])
                after = self.weights(world)
                self.assertTrue(all((before[name] == after[name]).all() for name in before))
            with self.subTest("a step that is finite changes the weights"):
                answer = world.step(self.file, lr=1e-3)
                self.assertTrue(answer["applied"])
                self.assertEqual(set(answer["seconds"]), {"forward", "head", "backward", "optimizer"})
                self.assertTrue(all(seconds > 0 for seconds in answer["seconds"].values()))
                after = self.weights(world)
                self.assertTrue(all((before[name] != after[name]).any() for name in before))
            with self.subTest("a long request tells how far it is"):
                lines = [json.loads(line) for line in self.file.read_text().splitlines()]
                many = [{**line, "id": f"{line['id']}:{n}"} for n in range(2) for line in lines]
                world.open(self.folder / "base", self.blobs, micro_tokens=1)
                world.events.clear()
                world.ask("score", file=str(tiny.write_samples(self.folder / "many.ndjson", many)))
                told = [(event["event"], event["do"], event["done"], event["of"]) for event in world.events]
                self.assertEqual(told, [("progress", "score", done, 3) for done in (1, 2, 3)])
            self.assertEqual(world.close(), 0)
            self.assertNotIn("terminate called", "".join(world.errors))

    def test_the_end_of_stdin_ends_it(self) -> None:
        with World(2) as world:
            world.open(self.folder / "base", self.blobs)
            world.process.stdin.close()
            self.assertEqual(world.process.wait(timeout=120), 0)

    def test_a_rank_that_fails_is_named_and_ends_the_job(self) -> None:
        script = self.folder / "broken.py"
        script.write_text(BROKEN)
        with World(2, script) as world:
            world.open(self.folder / "base", self.blobs)
            world.send("step", file=str(self.file), lr=1e-3, kind="policy", on_policy=True, fresh=True)
            error = world.answer()["error"]
            self.assertEqual((error["rank"], error["kind"]), (1, "error"))
            self.assertEqual(error["message"], "RuntimeError: the fan fell off")
            self.assertIn("in step", error["trace"])
            self.assertNotEqual(world.process.wait(timeout=60), 0)
            until(lambda: "rank 1: RuntimeError: the fan fell off" in "".join(world.errors), "the error on stderr")
            self.assertIn("a library's chatter", "".join(world.errors))

    def test_a_rank_that_is_killed_ends_the_job_within_half_a_minute(self) -> None:
        with World(2) as world:
            world.open(self.folder / "base", self.blobs)
            pids = world.pids()
            self.assertEqual(len(pids), 2)
            os.kill(pids[1], signal.SIGKILL)
            # Rank 0 waits for a request and could do so for days.
            self.assertNotEqual(world.process.wait(timeout=30), 0)
            self.assertIn("rank      : 1", "".join(world.errors))
            self.assertIn("exitcode  : -9", "".join(world.errors))

    def test_a_checkpoint_that_is_not_there_is_said_in_words(self) -> None:
        with World(1) as world:
            with self.assertRaisesRegex(AssertionError, "nowhere is no folder: a checkpoint is read from disk only"):
                world.open(self.folder / "nowhere", self.blobs)
            self.assertNotEqual(world.process.wait(timeout=60), 0)


class Values(unittest.TestCase):
    def test_json_never_has_nan_or_infinity(self) -> None:
        given = {"a": [1.5, float("nan")], "b": {"c": float("inf")}, "d": "nan"}
        self.assertEqual(finite(given), {"a": [1.5, None], "b": {"c": None}, "d": "nan"})

    def test_settings_that_do_not_exist_or_cannot_be_are_refused(self) -> None:
        for given, words in (
            ({"dtpye": "float32"}, "has no dtpye"),
            ({"dtype": "float16"}, "must be one of bfloat16, float32"),
            ({"reference": "lora-off"}, "needs model.lora"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                read_model(given)


if __name__ == "__main__":
    unittest.main()
