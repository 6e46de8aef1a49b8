"""The LM head with the policy loss, against plain PyTorch in float64."""

import json
import math
import os
import sys
import unittest
import unittest.mock
from dataclasses import fields, replace
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plain  # first: it says where dart_torch is
import torch
from dart_torch import abi
from dart_torch.head import Outcome, PolicyHead, head_weight, spans
from dart_torch.kernels import Kernels, LossSettings, Tokens
from torch import Tensor, nn

LENGTHS = [4, 1, 0, 6, 2, 7, 3, 5, 9, 4]
ROWS, WIDTH, VOCABULARY = 41, 8, 37
KERNELS = plain.kernels()

DART = LossSettings(clip_low=0.2, clip_high=0.28, tis_cap=1.0, kl_beta=0.1)
CASES = {
    "sft": LossSettings("sft"),
    "grpo": LossSettings(),
    "dart": DART,
    "arpo_dual_clip": LossSettings(clip_high=0.3, dual_clip=1.1),
    "temperature": LossSettings(temperature=0.7, tis_cap=2.0),
    "entropy_bonus": LossSettings(entropy_coef=0.05, kl_beta=0.1),
    "kl_k1": LossSettings(kl_beta=0.2, kl_estimator="k1"),
    "kl_k2": LossSettings(kl_beta=0.2, kl_estimator="k2"),
    "tis_token_mask": LossSettings(tis_cap=1.1, tis_mode="mask"),
    "tis_sequence_truncate": LossSettings(tis_cap=1.0, tis_level="sequence"),
    "tis_sequence_mask": LossSettings(tis_cap=1.0, tis_level="sequence", tis_mode="mask", kl_beta=0.1),
    "gspo": LossSettings("gspo", clip_low=0.05, clip_high=0.06),
    "gspo_everything": LossSettings("gspo", 0.05, 0.06, 1.02, 1.0, "sequence", "truncate", 0.1, "k3", 0.01, 1.3),
    "cispo": LossSettings("cispo", clip_high=0.2, tis_cap=2.0),
}


class Example(NamedTuple):
    """A hidden state [N, H], a head, and what is known of the tokens."""

    hidden: Tensor
    layer: nn.Linear
    tokens: Tokens


def example(dtype: torch.dtype = torch.float32, gaps: bool = False, temperature: float = 1.0) -> Example:
    """Log-probabilities lie near those of the current policy. With gaps some tokens are ignored, some unknown."""
    make = torch.Generator().manual_seed(5)
    hidden = torch.randn(ROWS, WIDTH, generator=make).to(dtype)
    layer = nn.Linear(WIDTH, VOCABULARY, bias=False, dtype=dtype)
    targets = torch.randint(0, VOCABULARY, (ROWS,), generator=make, dtype=torch.int32)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(VOCABULARY, WIDTH, generator=make))
        logp, _ = plain.log_probabilities(layer(hidden), targets, temperature)
    old, rollout, reference = ((logp + 0.4 * torch.randn(ROWS, generator=make)).float() for _ in range(3))
    if gaps:
        targets[[1, 7]] = -1
        old[2], rollout[[3, 8]], reference[5] = math.nan, math.nan, -math.inf
    scale = torch.rand(ROWS, generator=make) / ROWS
    offsets = torch.tensor([0, *LENGTHS]).cumsum(0).int()
    tokens = Tokens(targets, scale, torch.randn(ROWS, generator=make), old, rollout, reference, offsets)
    return Example(hidden.requires_grad_(), layer, tokens)


def call(head: PolicyHead, hidden: Tensor, t: Tokens, settings: LossSettings = DART) -> Outcome:
    """What a training step calls."""
    return head(hidden, t.targets, t.offsets, t.scale, t.advantage, t.old_logp, t.rollout_logp, t.ref_logp, settings)


def run(it: Example, settings: LossSettings, chunk: int = 4, kernels: Kernels = KERNELS):
    """The outcome, and the gradients by hidden and weight."""
    outcome = call(PolicyHead(it.layer, kernels, chunk), it.hidden, it.tokens, settings)
    wanted = [each for each in (it.hidden, *it.layer.parameters()) if each.requires_grad]
    return outcome, torch.autograd.grad(outcome.loss, wanted)


def expected(it: Example, settings: LossSettings):
    """The same in float64 from the same numbers; logits are rounded to the model's type, as the head's are."""
    inputs = [each.detach().double().requires_grad_() for each in (it.hidden, *it.layer.parameters())]
    logits = nn.functional.linear(*inputs)
    if it.hidden.dtype != torch.float32:
        logits = logits + (logits.to(it.hidden.dtype).double() - logits).detach()
    want = plain.policy_loss(logits, it.tokens, settings)
    return want, torch.autograd.grad(want["loss"], inputs)


def apart(got: Tensor, want: Tensor) -> float:
    """The greatest difference, in units of the greatest number, 1 at least."""
    return float((got.detach().double() - want.detach()).abs().max()) / max(1.0, float(want.detach().abs().max()))


class AgainstPlain(unittest.TestCase):
    """Loss, gradients, per-token outputs and statistics; each case is a method of its own, made below."""

    def hold(
        self, settings: LossSettings, it: Example, tolerance: float, coarse: float, kernels: Kernels = KERNELS
    ) -> float:
        outcome, gradients = run(it, settings, kernels=kernels)
        want, slopes = expected(it, settings)
        self.assertGreater(float(slopes[0].abs().max()), 1e-3)
        gaps = {name: apart(getattr(outcome, name), want[name]) for name in ("loss", "logp", "entropy")}
        for name, gap in gaps.items():
            self.assertLess(gap, tolerance, name)
        for name, got, slope in zip(("hidden", "weight"), gradients, slopes):
            self.assertEqual(got.dtype, it.hidden.dtype)
            gaps[name] = apart(got, slope)
            self.assertLess(gaps[name], coarse, name)
        sums = outcome.statistics
        self.assertEqual(sums["tokens"], int(want["scored"].sum()))
        self.assertEqual(sums["ignored"], int((it.tokens.targets < 0).sum()))
        self.assertEqual(sums["truncated"], int(want["truncated"].sum()))
        if settings.surrogate != "sft":
            self.assertEqual(sums["clipped"], int(want["clipped"].sum()))
        self.assertEqual(sums["rollout_tokens"], int(want["rollout"].sum()))
        for name, value in (
            ("loss", want["loss"]), ("entropy", want["entropy"].sum()), ("reference_kl", want["reference_kl"].sum()),
            ("log_weight", want["log_weight"].sum()), ("weight_max", want["weight"][want["scored"]].max()),
        ):  # fmt: skip
            self.assertAlmostEqual(sums[name], value.item(), delta=100 * tolerance, msg=name)
        return max(gaps.values())

    def test_each_setting_of_a_case_bites(self):
        for name, settings in CASES.items():
            it = example(gaps=True, temperature=settings.temperature)
            _, (with_all, _) = run(it, settings)
            for field in fields(settings):
                if getattr(settings, field.name) == field.default or field.name == "temperature":
                    continue
                _, (without, _) = run(it, replace(settings, **{field.name: field.default}))
                self.assertGreater(apart(without, with_all.double()), 1e-4, f"{name}: {field.name}")


def _add_cases() -> None:
    for name, settings in CASES.items():
        for dtype, tolerance, coarse in ((torch.float32, 1e-5, 1e-5), (torch.bfloat16, 1e-5, 5e-3)):
            for gaps in (False, True):

                def test(self, settings=settings, dtype=dtype, tolerance=tolerance, coarse=coarse, gaps=gaps):
                    self.hold(settings, example(dtype, gaps, settings.temperature), tolerance, coarse)

                kind = str(dtype).removeprefix("torch.")
                setattr(AgainstPlain, f"test_{name}_{kind}{'_with_gaps' if gaps else ''}", test)


_add_cases()


class Chunks(unittest.TestCase):
    def test_number_of_rows_at_a_time_changes_nothing(self):
        for name, settings in CASES.items():
            it = example(gaps=True, temperature=settings.temperature)
            whole, slopes = run(it, settings, chunk=ROWS)
            for chunk in (1, 3, 1000):
                outcome, gradients = run(it, settings, chunk)
                with self.subTest(name, chunk=chunk):
                    for got, want in zip((outcome.loss, outcome.logp, *gradients), (whole.loss, whole.logp, *slopes)):
                        torch.testing.assert_close(got, want, atol=1e-6, rtol=1e-5)
                    for field in abi.STATISTICS:
                        self.assertAlmostEqual(
                            outcome.statistics[field], whole.statistics[field], delta=1e-5, msg=field
                        )

    def test_cuts_by_rows_or_between_sequences(self):
        self.assertEqual([tuple(span)[:2] for span in spans(7, 3)], [(0, 3), (3, 6), (6, 7)])
        self.assertEqual(spans(0, 3), [])
        cut = spans(13, 5, [0, 4, 5, 5, 11, 13])
        self.assertEqual([tuple(span) for span in cut], [(0, 5, 0, 3), (5, 11, 3, 4), (11, 13, 4, 5)])
        self.assertEqual([tuple(span)[:2] for span in spans(13, 100, [0, 4, 5, 5, 11, 13])], [(0, 13)])
        self.assertEqual(spans(0, 3, [0, 0]), [])

    def test_weight_gradient_is_summed_in_float32(self):
        # In bfloat16 a sum of equal numbers stands still at 256 to 512 of them.
        layer = example(torch.bfloat16).layer
        hidden = torch.ones(1, WIDTH, dtype=torch.bfloat16, requires_grad=True)

        def gradient(rows: int) -> Tensor:
            tokens = Tokens(torch.full((rows,), 5, dtype=torch.int32), torch.ones(rows))
            return run(Example(hidden.expand(rows, -1).contiguous(), layer, tokens), LossSettings("sft"), 1)[1][1]

        torch.testing.assert_close(gradient(1024), gradient(1) * 1024, rtol=2**-8, atol=0)

    def test_no_rows_give_a_loss_of_zero_with_gradients(self):
        it = example()
        t = Tokens(*(each[:0] for each in it.tokens[:-1]), torch.zeros(1, dtype=torch.int32))
        for settings in (DART, CASES["gspo"]):
            outcome, gradients = run(Example(it.hidden.detach()[:0].requires_grad_(), it.layer, t), settings)
            self.assertEqual(outcome.loss.item(), 0)
            self.assertEqual([each.abs().sum().item() for each in gradients], [0, 0])


class Gradients(unittest.TestCase):
    def test_weight_that_is_frozen_gets_none(self):
        it = example()
        _, (want, _) = run(it, DART)
        it.layer.weight.requires_grad_(False)
        _, got = run(it, DART)
        self.assertEqual(len(got), 1)
        self.assertTrue(got[0].equal(want))

    def test_hidden_that_needs_none_gets_none(self):
        it = example()
        _, (_, want) = run(it, DART)
        _, got = run(it._replace(hidden=it.hidden.detach()), DART)
        self.assertEqual(len(got), 1)
        self.assertTrue(got[0].equal(want))

    def test_factor_of_the_loss_is_a_factor_of_the_gradients_and_backward_works_once(self):
        it = example()
        _, want = run(it, DART)
        loss = call(PolicyHead(it.layer, KERNELS, 4), it.hidden, it.tokens).loss
        (loss * 2).backward(retain_graph=True)
        self.assertTrue(it.hidden.grad.equal(want[0] * 2))
        self.assertTrue(it.layer.weight.grad.equal(want[1] * 2))
        with self.assertRaisesRegex(RuntimeError, "backward works once a forward"):
            loss.backward()

    def test_parameters_stay_the_models(self):
        layer = example().layer
        self.assertEqual(list(PolicyHead(layer, KERNELS).parameters()), [])


class Excluded(unittest.TestCase):
    def test_target_of_minus_infinity_has_no_loss(self):
        it = example()
        with torch.no_grad():
            it.hidden[:, 0] = 1
            it.layer.weight[9, 0] = -math.inf
        it.tokens.targets[3] = 9
        it.tokens.targets[4:] = 2
        outcome, (_, weight) = run(it, DART)
        self.assertEqual(outcome.logp[3].item(), -math.inf)
        self.assertEqual(outcome.statistics["excluded"], 1)
        self.assertEqual(outcome.statistics["tokens"], ROWS - 1)
        self.assertTrue(math.isfinite(outcome.loss.item()))
        self.assertEqual(weight[9].abs().max().item(), 0)

    def test_nan_is_counted(self):
        it = example()
        with torch.no_grad():
            it.hidden[6, 0] = math.nan
        outcome, _ = run(it, DART)
        self.assertEqual(outcome.statistics["nonfinite"], 1)
        self.assertTrue(math.isnan(outcome.statistics["loss"]))


class Score(unittest.TestCase):
    def test_gives_log_probability_and_entropy_chunk_by_chunk(self):
        for dtype in (torch.float32, torch.bfloat16):
            it = example(dtype, gaps=True)
            for chunk in (1, 3, 1000):
                logp, entropy = PolicyHead(it.layer, KERNELS, chunk).score(it.hidden, it.tokens.targets, 0.7)
                want = plain.log_probabilities(it.layer(it.hidden).detach(), it.tokens.targets, 0.7)
                self.assertLess(apart(logp, torch.where(it.tokens.targets < 0, 0.0, want[0])), 1e-5)
                self.assertLess(apart(entropy[it.tokens.targets >= 0], want[1][it.tokens.targets >= 0]), 1e-5)
                self.assertFalse(logp.requires_grad)

    def test_equals_what_the_loss_reports(self):
        it = example(torch.bfloat16)
        logp, entropy = PolicyHead(it.layer, KERNELS, 4).score(it.hidden, it.tokens.targets)
        outcome, _ = run(it, DART)
        self.assertTrue(logp.equal(outcome.logp))
        torch.testing.assert_close(entropy, outcome.entropy, atol=1e-6, rtol=1e-6)


class Refusals(unittest.TestCase):
    def refuse(self, words: str, it: Example, settings: LossSettings = DART, **changes) -> None:
        with self.assertRaisesRegex(ValueError, words):
            run(it._replace(tokens=it.tokens._replace(**changes)), settings)

    def test_target_beyond_the_vocabulary(self):
        it = example()
        it.tokens.targets[6] = VOCABULARY
        self.refuse("target 37 of token 6 lies beyond the vocabulary of 37", it)
        with self.assertRaisesRegex(ValueError, "target 37 of token 6"):
            PolicyHead(it.layer, KERNELS).score(it.hidden, it.tokens.targets)

    def test_tensors_that_do_not_fit(self):
        it = example()
        self.refuse(
            r"targets must be torch.int32 \[4\] on cpu, not torch.int64 \[4\] on cpu",
            it,
            targets=it.tokens.targets.long(),
        )
        self.refuse(
            r"scale must be torch.float32 \[1\] on cpu, not torch.float32 \[0\]", it, scale=it.tokens.scale[:-1]
        )
        self.refuse("advantage must be torch.float32", it, advantage=it.tokens.advantage.double())
        self.refuse("old_logp must be .* on cpu, not .* on meta", it, old_logp=it.tokens.old_logp.to("meta"))
        self.refuse(r"rollout_logp must be contiguous", it, rollout_logp=torch.zeros(2 * ROWS)[::2])
        self.refuse("offsets must be torch.int32", it, CASES["gspo"], offsets=it.tokens.offsets.long())

    def test_device_without_a_library(self):
        with self.assertRaisesRegex(ValueError, "no kernel library for tensors on meta"):
            it = Example(torch.zeros(2, 4, device="meta"), nn.Linear(4, 5, bias=False, device="meta"), example().tokens)
            KERNELS.logp_entropy(
                it.hidden, torch.zeros(2, dtype=torch.int32, device="meta"), 1.0, *torch.zeros(2, 2, device="meta")
            )

    def test_settings_that_nobody_knows(self):
        with self.assertRaisesRegex(ValueError, "surrogate must be one of grpo, gspo, cispo, sft, not 'ppo'"):
            LossSettings("ppo")
        with self.assertRaisesRegex(ValueError, "kl_estimator must be one of k1, k2, k3"):
            LossSettings.of({"surrogate": "grpo", "kl_estimator": "k4", "aggregation": "token-mean"})
        with self.assertRaisesRegex(RuntimeError, "temperature must lie in"):
            run(example(), LossSettings(temperature=0.0))

    def test_library_of_another_interface_or_none(self):
        with self.assertRaises(OSError):
            run(example(), DART, kernels=Kernels("/nowhere/libdart_cpu.so"))
        with (
            unittest.mock.patch.object(abi, "ABI", 1),
            self.assertRaisesRegex(RuntimeError, "has interface 2, this program needs 1"),
        ):
            run(example(), DART, kernels=plain.kernels())

    def test_objective_of_a_request(self):
        objective = {
            "surrogate": "cispo",
            "clip_low": 0.1,
            "clip_high": 4,
            "dual_clip": None,
            "tis_cap": 2,
            "aggregation": "constant",
        }
        self.assertEqual(LossSettings.of(objective, 0.6), LossSettings("cispo", 0.1, 4, None, 2, temperature=0.6))


class Heads(unittest.TestCase):
    """What may stand where the LM head stood."""

    def test_layer_that_is_not_linear_is_refused(self):
        for layer in (nn.Conv1d(2, 3, 1), nn.Linear(2, 3)):
            with self.assertRaisesRegex(ValueError, f"linear without bias and adapters, not {type(layer).__name__}"):
                head_weight(layer)

    def test_adapters_on_the_head_are_refused_and_elsewhere_leave_it_frozen(self):
        try:
            from peft import LoraConfig, get_peft_model
        except ImportError:
            self.skipTest("there is no peft")
        for targets in (["body"], ["body", "lm_head"]):
            model = nn.ModuleDict({"body": nn.Linear(3, 3), "lm_head": nn.Linear(3, 5, bias=False)})
            layer = get_peft_model(model, LoraConfig(target_modules=targets)).base_model.model["lm_head"]
            if "lm_head" in targets:
                with self.assertRaisesRegex(ValueError, "without bias and adapters.*Try: other LoRA targets"):
                    head_weight(layer)
            else:
                self.assertIs(head_weight(layer), layer.weight)
                self.assertFalse(layer.weight.requires_grad)

    def test_head_under_fsdp_is_whole_in_the_root_forward_and_refused_outside(self):
        import torch.distributed as dist
        from torch.distributed.fsdp import fully_shard

        class Root(nn.Module):
            def __init__(self, it: Example):
                super().__init__()
                self.lm_head = it.layer
                self.head = PolicyHead(it.layer, KERNELS, 4)

            def forward(self, hidden: Tensor, t: Tokens):
                return call(self.head, hidden, t)

        _, want = run(example(), DART)
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        try:
            it = example()
            root = fully_shard(Root(it), mesh=dist.device_mesh.init_device_mesh("cpu", (1,)))
            self.assertEqual([name for name, _ in root.named_parameters()], ["lm_head.weight"])
            root(it.hidden, it.tokens).loss.backward()
            self.assertTrue(root.lm_head.weight.grad.full_tensor().equal(want[1]))
            self.assertTrue(it.hidden.grad.equal(want[0]))
            root.reshard()
            with self.assertRaisesRegex(
                ValueError, "is sharded: call PolicyHead in the forward of the module that FSDP wraps"
            ):
                head_weight(root.lm_head)
        finally:
            dist.destroy_process_group()


class Cuda(unittest.TestCase):
    """The CUDA sources, built for the CPU."""

    def test_gives_the_same_as_plain_pytorch(self):
        emulated = plain.kernels(emulated=True)
        for name, settings in CASES.items():
            with self.subTest(name):
                AgainstPlain("hold").hold(
                    settings, example(gaps=True, temperature=settings.temperature), 1e-5, 1e-5, emulated
                )
        it = example()
        for got, want in zip(
            *(PolicyHead(it.layer, each, 3).score(it.hidden, it.tokens.targets) for each in (emulated, KERNELS))
        ):
            torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)


class Golden(unittest.TestCase):
    """The kernels on tensors, held to reference numbers."""

    def test_policy_loss(self):
        cases = json.loads(plain.golden("policy_loss.json").read_text())["cases"]
        self.assertGreater(len(cases), 10)
        for case in cases:
            with self.subTest(case["name"]):
                self.hold(case)

    def hold(self, case: dict) -> None:
        rows, vocabulary, rtol = case["N"], case["V"], case["rtol"]
        kind = torch.bfloat16 if case["dtype"] == "bf16" else torch.float32
        read = {"-inf": -math.inf, "inf": math.inf}
        logits = (
            torch.tensor([read.get(x, x) for x in case["logits"]], dtype=torch.float64)
            .reshape(rows, vocabulary)
            .to(kind)
        )
        mask = torch.tensor(case["mask"]) > 0
        targets = torch.where(mask, torch.tensor(case["target"]), -1).int()
        sequence = torch.tensor(case["sequence"])
        offsets = torch.cat([torch.zeros(1), torch.bincount(sequence).cumsum(0)]).int()
        floats = {
            name: torch.tensor(case[name]) for name in ("scale", "advantage", "old_logp", "rollout_logp", "ref_logp")
        }
        settings = LossSettings.of({**case, "surrogate": case["loss_kind"]}, case["temperature"])
        out, sums = torch.empty(5, rows), torch.empty(len(abi.STATISTICS), dtype=torch.float64)
        KERNELS.policy_loss(logits, Tokens(targets, **floats, offsets=offsets), settings, out, sums, True)
        want = case["want"]
        for row, name in enumerate(("logp", "entropy", "ratio", "tis_weight", "token_loss")):
            right = torch.tensor([math.nan if x is None else x for x in want[name]], dtype=torch.float64)[mask]
            self.assertLessEqual(
                float((out[row][mask] - right).abs().max()), rtol * max(1.0, float(right.abs().max())), name
            )
        self.assertAlmostEqual(
            float(sums[abi.STATISTICS.index("loss")]), want["loss"], delta=rtol * max(1.0, abs(want["loss"]))
        )
        slopes = torch.tensor(want["dlogits"], dtype=torch.float64).reshape(rows, vocabulary)
        share = 2**-7 if kind == torch.bfloat16 else rtol
        self.assertTrue(((logits.double() - slopes).abs() <= share * slopes.abs().amax(1, keepdim=True) + 1e-7).all())


if __name__ == "__main__":
    unittest.main()
