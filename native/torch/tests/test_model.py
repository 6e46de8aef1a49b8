"""What the ranks compute, against one process of plain PyTorch: Hugging Face's model, no sharding, no kernels."""

import json
import math
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plain  # first: it says where dart_torch is
import tiny
import torch
from dart_torch.kernels import LossSettings, Tokens
from dart_torch.objectives import token_scales
from dart_torch.optimizer import Optimizer
from dart_torch.settings import OptimizerSettings
from peft import PeftModel
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoModelForImageTextToText, AutoProcessor
from worlds import GRPO, World

DART = {**GRPO, "tis_cap": 1.0, "kl_beta": 0.1, "aggregation": "sequence-mean"}
# With such an AdamW a step of lr 1 moves a weight by g / (|g| + 1): the weights before and after tell the gradient.
TELLING = {"beta1": 0.0, "beta2": 0.0, "epsilon": 1.0}
LORA = {"rank": 4, "alpha": 8, "dropout": 0.0, "targets": "all-linear"}
FOLDER: Path
WORLDS: dict[int, World]
HELD = tempfile.TemporaryDirectory()


def setUpModule() -> None:
    global FOLDER, WORLDS
    FOLDER = Path(HELD.name)
    tiny.build(FOLDER / "base")
    tiny.build(FOLDER / "tied", tie=True)
    WORLDS = {ranks: World(ranks) for ranks in (1, 2)}


def tearDownModule() -> None:
    try:
        for world in WORLDS.values():
            assert world.close() == 0, "".join(world.errors)
    finally:
        for world in WORLDS.values():
            world.__exit__()
        HELD.cleanup()


def examples() -> list[dict[str, Any]]:
    """Steps of two trajectories: other lengths, pictures, temperatures; some replies with what their sampler said."""
    seen = [tiny.keep_blob(FOLDER / "blobs", tiny.draw(seed=seed)) for seed in range(3)]
    lines = []
    for step in range(5):
        reply = f"Thought: {'look ' * step}\nAction: wait()"
        ids = [*reply.encode(), 258]
        sampled = [None if n % 7 == 3 else -5.6 + 0.1 * ((n * 5 + step) % 9) for n in range(len(ids))]
        own = {"reply_ids": ids, "rollout_logp": sampled} if step % 2 else {}
        images = [seen[step % 3], seen[(step + 1) % 3]][: 1 + step % 2]
        more = {"advantage": [1.0, -0.5, 0.25, -1.5, 2.0][step], "temperature": [1, 1, 0.8, 1, 0.8][step]}
        lines.append(tiny.example(f"t:{step}", tiny.conversation(*images), reply, episode=step // 2, **more, **own))
    return lines


def logits(model: nn.Module, processor: Any, line: dict[str, Any], reply: str | None = None) -> tuple[Tensor, Tensor]:
    """[tokens, V] that predict the reply's tokens, and those [tokens]; positions as transformers has them."""
    lists = [message["content"] for message in line["messages"] if isinstance(message["content"], list)]
    shas = [part["sha256"] for part in sum(lists, []) if "sha256" in part]
    images = [Image.open(FOLDER / "blobs" / sha[:2] / f"{sha[2:]}.png") for sha in shas]
    text = processor.apply_chat_template(line["messages"], tokenize=False, add_generation_prompt=True)
    inputs = processor(text=[text], images=images, return_tensors="pt")
    prompt = inputs.pop("input_ids")
    inputs.pop("attention_mask")
    targets = torch.tensor([*(line["reply"] if reply is None else reply).encode(), 258])
    ids = torch.cat([prompt, targets[None]], dim=1)
    kinds = (ids == model.config.image_token_id).int()
    inputs = {**inputs, "input_ids": ids, "mm_token_type_ids": kinds, "attention_mask": torch.ones_like(ids)}
    return model(**inputs).logits[0, prompt.shape[1] - 1 : -1], targets


def sum_of(model: nn.Module, processor: Any, line: dict[str, Any], reply: str | None = None) -> Tensor:
    """The reply's summed log-probability, a scalar with gradient."""
    found, targets = logits(model, processor, line, reply)
    return plain.log_probabilities(found, targets, line["temperature"])[0].sum()


def policy_loss(model: nn.Module, reference: nn.Module, old: nn.Module | None, objective: dict[str, Any]) -> Tensor:
    """The loss of design §9 over all examples, a scalar with gradient; `old` is the model whose log-probs are logo."""
    lines, processor = examples(), AutoProcessor.from_pretrained(FOLDER / "base")
    parts = []
    scales = token_scales([len(line["reply"]) + 1 for line in lines], objective["aggregation"])
    for line, scale in zip(lines, scales):
        found, targets = logits(model, processor, line)

        def of(other: nn.Module, line: dict[str, Any] = line, targets: Tensor = targets) -> Tensor:
            with torch.no_grad():
                found = logits(other, processor, line)[0]
                return plain.log_probabilities(found, targets, line["temperature"])[0].float()

        sampled = [math.nan if value is None else value for value in line["rollout_logp"] or [None] * len(targets)]
        tokens = Tokens(
            targets,
            torch.full((len(targets),), scale),
            torch.full((len(targets),), line["advantage"]),
            None if old is None else of(old),
            torch.tensor(sampled),
            of(reference) if objective["kl_beta"] else None,
            torch.tensor([0, len(targets)]),
        )
        parts.append(plain.policy_loss(found, tokens, LossSettings.of(objective, line["temperature"]))["loss"])
    return torch.stack(parts).sum()


def load(folder: Path | str) -> nn.Module:
    """What `from_pretrained` makes of a folder, adapters on the base included."""
    if not (Path(folder) / "adapter_config.json").exists():
        return AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
    base = json.loads((Path(folder) / "adapter_config.json").read_text())["base_model_name_or_path"]
    return PeftModel.from_pretrained(load(base), folder, is_trainable=True).eval()


def saved(world: World, name: str) -> Path:
    """A new version."""
    folder = Path(tempfile.mkdtemp(dir=FOLDER, prefix=name))
    world.ask("save", folder=str(folder), state=False)
    return folder


def weights(folder: Path) -> dict[str, Tensor]:
    """The tensors of a version."""
    return load_file(next(folder.glob("*model.safetensors")))


def told(before: Path, after: Path) -> dict[str, Tensor]:
    """The gradients that a step of the telling AdamW had, by name."""
    first, second = weights(before), weights(after)
    moves = {name: first[name] - second[name] for name in first}
    return {name: move / (1 - move.abs()) for name, move in moves.items()}


def wanted(model: nn.Module) -> dict[str, Tensor]:
    """The gradients of a model that `load` made, under the names that its files have."""
    found = {}
    for name, parameter in model.named_parameters():
        name = name.replace(".default.", ".")
        if not name.startswith("base_model."):
            name = name.replace("model.language_model.", "model.").replace("model.visual.", "visual.")
        found[name] = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    return found


class Gradients(unittest.TestCase):
    def check(self, ranks: int, checkpoint: str, limit: float | None = None, **model: Any) -> None:
        """
        One step on the policy, one off it: losses, and the second one's gradients, parameter by parameter, as they were
        after clipping to `limit`.
        """
        world, file = WORLDS[ranks], tiny.write_samples(FOLDER / "samples.ndjson", examples())
        world.open(FOLDER / checkpoint, FOLDER / "blobs", DART, optimizer={**TELLING, "max_grad_norm": limit}, **model)
        world.ask("score", file=str(file))
        start = saved(world, "start")
        first = world.step(file, lr=0.3)
        before = saved(world, "before")
        second = world.step(file, lr=1.0, on_policy=False, fresh=False)
        after = saved(world, "after")
        tokens = sum(len(line["reply"]) + 1 for line in examples())
        counts = [first["statistics"][name] for name in ("tokens", "reference_tokens", "ignored")]
        self.assertEqual(counts, [tokens, tokens, 0])
        reference, began, policy = load(FOLDER / checkpoint), load(start), load(before)
        self.assertAlmostEqual(first["loss"], float(policy_loss(began, reference, None, DART).detach()), delta=1e-4)
        loss = policy_loss(policy, reference, began, DART)
        loss.backward()
        self.assertAlmostEqual(second["loss"], float(loss.detach()), delta=1e-4)
        self.assertGreater(abs(second["loss"] - first["loss"]), 1e-3)
        expected, got = wanted(policy), told(before, after)
        norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in expected.values()))
        self.assertAlmostEqual(second["grad_norm"], norm, delta=1e-4 * norm)
        factor = 1.0 if limit is None else min(1.0, limit / (norm + 1e-6))
        self.assertEqual(limit is None, factor == 1.0)
        for name, gradient in got.items():
            with self.subTest(name):
                torch.testing.assert_close(gradient, factor * expected[name], atol=1e-4 * factor * norm, rtol=1e-3)
        trained = [name for name in got if expected[name].abs().max() > 0]
        self.assertGreater(len(trained), 20)

    def test_full_on_one_rank_packed(self) -> None:
        self.check(1, "base", reference="copy", packed=True, attention="sdpa")

    def test_full_on_one_rank_padded(self) -> None:
        self.check(1, "tied", reference="copy", packed=False, gradient_checkpointing=False)

    def test_full_on_two_ranks_packed(self) -> None:
        self.check(2, "tied", limit=0.1, reference="copy", packed=True)

    def test_full_on_two_ranks_padded(self) -> None:
        self.check(2, "base", reference="copy", packed=False, attention="sdpa", micro_tokens=130)

    def test_lora_on_one_rank_packed(self) -> None:
        self.check(1, "base", limit=0.1, reference="lora-off", packed=True, lora=LORA, freeze_vision=True)

    def test_lora_on_one_rank_padded(self) -> None:
        self.check(1, "base", reference="copy", packed=False, lora=LORA, freeze_vision=False)

    def test_lora_on_two_ranks_packed(self) -> None:
        self.check(2, "base", reference="lora-off", packed=True, lora=LORA, freeze_vision=True, micro_tokens=130)

    def test_lora_on_two_ranks_padded(self) -> None:
        self.check(2, "tied", reference="lora-off", packed=False, lora=LORA, freeze_vision=True, attention="sdpa")

    def test_a_frozen_vision_tower_stays_as_it_was(self) -> None:
        file = tiny.write_samples(FOLDER / "samples.ndjson", examples())
        counts = WORLDS[2].open(FOLDER / "base", FOLDER / "blobs", freeze_vision=True)
        WORLDS[2].step(file)
        before, after = weights(FOLDER / "base"), weights(saved(WORLDS[2], "frozen"))
        changed = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
        self.assertEqual(changed, {"model", "lm_head"})
        tower = sum(value.numel() for name, value in before.items() if name.startswith("visual."))
        self.assertEqual(counts["parameters"] - counts["trainable"], tower)


class Steps(unittest.TestCase):
    def make(self, **settings: Any) -> tuple[dict[str, nn.Parameter], Optimizer]:
        weights = {"matrix": nn.Parameter(torch.full((2, 2), 2.0)), "bias": nn.Parameter(torch.full((2,), 2.0))}
        return weights, Optimizer(weights, OptimizerSettings(**settings))

    def test_weight_decay_is_of_matrices_only(self) -> None:
        weights, optimizer = self.make(weight_decay=0.5)
        for weight in weights.values():
            weight.grad = torch.zeros_like(weight)
        self.assertEqual(optimizer.step(0.1, True), (True, 0.0))
        torch.testing.assert_close(weights["matrix"].detach(), torch.full((2, 2), 2 * (1 - 0.1 * 0.5)))
        self.assertEqual(weights["bias"].tolist(), [2.0, 2.0])

    def test_a_gradient_that_is_not_finite_leaves_weights_and_moments(self) -> None:
        weights, optimizer = self.make()
        weights["matrix"].grad = torch.tensor([[1.0, torch.nan], [0.0, 0.0]])
        before = {name: value.clone() for name, value in optimizer.state().items()}
        applied, norm = optimizer.step(0.1, True)
        self.assertFalse(applied)
        self.assertTrue(math.isnan(norm))
        self.assertTrue(all(torch.equal(value, before[name]) for name, value in optimizer.state().items()))
        self.assertIsNone(weights["matrix"].grad)


class Learning(unittest.TestCase):
    def test_grpo_raises_what_was_rewarded_and_lowers_what_was_not(self) -> None:
        lines = [{**line, "temperature": 1, "reply_ids": None, "rollout_logp": None} for line in examples()[:4]]
        lines = [{**line, "advantage": 1.0 if n % 2 else -1.0} for n, line in enumerate(lines)]
        file = tiny.write_samples(FOLDER / "toy.ndjson", lines)
        WORLDS[2].open(FOLDER / "base", FOLDER / "blobs")
        processor = AutoProcessor.from_pretrained(FOLDER / "base")

        def means(folder: Path) -> list[float]:
            model = load(folder)
            with torch.no_grad():
                return [float(sum_of(model, processor, line)) / (len(line["reply"]) + 1) for line in lines]

        before = means(FOLDER / "base")
        for _ in range(12):
            self.assertTrue(WORLDS[2].step(file, lr=3e-3)["applied"])
        gains = [after - start for after, start in zip(means(saved(WORLDS[2], "toy")), before)]
        self.assertLess(max(gains[0], gains[2]), min(gains[1], gains[3]) - 0.5)

    def test_sft_learns_eight_examples_by_heart(self) -> None:
        seen = [tiny.keep_blob(FOLDER / "blobs", tiny.draw(seed=seed)) for seed in range(8)]
        lines = [tiny.example(f"s:{n}", tiny.conversation(sha), f"click {n}") for n, sha in enumerate(seen)]
        file = tiny.write_samples(FOLDER / "sft.ndjson", lines)
        WORLDS[1].open(FOLDER / "base", FOLDER / "blobs", {"sft": {}}, micro_tokens=2000)
        losses = [WORLDS[1].step(file, "sft", lr=5e-3)["loss"] for _ in range(60)]
        self.assertGreater(losses[0], 4)
        self.assertLess(losses[-1], 0.05)

    def test_dpo_is_the_loss_of_its_paper_and_falls(self) -> None:
        beta, pairs, lines = 0.3, [[0, 1], [2, 1]], examples()
        file = tiny.write_samples(FOLDER / "dpo.ndjson", lines)
        world = WORLDS[2]
        model = {"lora": LORA, "reference": "lora-off", "freeze_vision": True}
        world.open(FOLDER / "base", FOLDER / "blobs", {"dpo": {"beta": beta}}, **model)
        losses = [world.step(file, "dpo", lr=0.01, pairs=pairs)["loss"] for _ in range(3)]
        self.assertAlmostEqual(losses[0], math.log(2), delta=1e-5)
        self.assertLess(losses[2], losses[0])
        rewards = self.rewards(load(saved(world, "dpo")), beta)
        margins = [rewards[chosen] - rewards[rejected] for chosen, rejected in pairs]
        got = world.step(file, "dpo", lr=0.01, pairs=pairs)
        expected = sum(math.log1p(math.exp(-margin)) for margin in margins) / 2
        self.assertAlmostEqual(got["loss"], expected, delta=1e-4)
        self.assertAlmostEqual(got["more"]["rewards_margins"], sum(margins) / 2, delta=1e-3)
        self.assertAlmostEqual(got["more"]["rewards_chosen"], (rewards[0] + rewards[2]) / 2, delta=1e-3)

    def test_kto_is_the_loss_of_its_paper_with_trls_reference_point_and_falls(self) -> None:
        beta, labels = 0.3, [True, False, True]
        file = tiny.write_samples(FOLDER / "kto.ndjson", examples())
        world, objective = WORLDS[1], {"kto": {"beta": beta, "desirable_weight": 1.5, "undesirable_weight": 0.5}}
        world.open(FOLDER / "base", FOLDER / "blobs", objective, reference="copy")
        # Mostly bad replies: all get less likely, and the reference point stays 0.
        falling = [world.step(file, "kto", lr=3e-4, labels=[False, True, False]) for _ in range(4)]
        self.assertAlmostEqual(falling[0]["loss"], (0.5 + 1.5 + 0.5) / 2 / 3, delta=1e-5)
        self.assertLess(falling[3]["loss"], falling[0]["loss"] - 0.01)
        world.open(FOLDER / "base", FOLDER / "blobs", objective, reference="copy")
        for _ in range(3):
            world.step(file, "kto", lr=1e-4, labels=labels)
        model = load(saved(world, "kto"))
        rewards, z = self.rewards(model, beta), self.reference_point(model)
        self.assertGreater(z, 0)
        got = world.step(file, "kto", lr=1e-3, labels=labels)
        self.assertAlmostEqual(got["more"]["kl"], z, delta=1e-3 * z)
        signed = [(rewards[n] - beta * z) * (1 if good else -1) for n, good in enumerate(labels)]
        parts = [(1.5 if good else 0.5) * (1 - 1 / (1 + math.exp(-x))) for x, good in zip(signed, labels)]
        self.assertAlmostEqual(got["loss"], sum(parts) / 3, delta=1e-4)

    def rewards(self, model: nn.Module, beta: float) -> list[float]:
        """beta * (log-probability - reference's) of the three episodes."""
        lines, base, processor = examples(), load(FOLDER / "base"), AutoProcessor.from_pretrained(FOLDER / "base")
        sums = [0.0] * 3
        for line in lines:
            with torch.no_grad():
                sums[line["episode"]] += beta * float(sum_of(model, processor, line) - sum_of(base, processor, line))
        return sums

    def reference_point(self, model: nn.Module) -> float:
        """Episodes {0: two steps, 1: two, 2: one}: each with the replies of the one before."""
        lines, base, processor = examples(), load(FOLDER / "base"), AutoProcessor.from_pretrained(FOLDER / "base")
        total = 0.0
        for prompt, reply in ((0, 4), (2, 0), (3, 1), (4, 2), (4, 3)):
            with torch.no_grad():
                ratio = [sum_of(each, processor, lines[prompt], lines[reply]["reply"]) for each in (model, base)]
            total += float(ratio[0] - ratio[1])
        return max(0.0, total / 3)


if __name__ == "__main__":
    unittest.main()
