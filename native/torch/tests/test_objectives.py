"""Shares of the mean, preferences and sums of statistics, against numbers by hand and plain PyTorch."""

import json
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plain  # first: it says where dart_torch is
import torch
from dart_torch import abi
from dart_torch.head import PolicyHead
from dart_torch.kernels import LossSettings
from dart_torch.objectives import dpo, episode_sums, kto, kto_reference_point, merge, spread, token_scales
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

KERNELS = plain.kernels()


def doubles(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


class Scales(unittest.TestCase):
    """The numbers of lib/training/scales.test.ts."""

    def test_token_mean(self):
        self.assertEqual(token_scales([3, 1], "token-mean"), [1 / 4, 1 / 4])

    def test_sequence_mean_leaves_empty_sequences_out(self):
        self.assertEqual(token_scales([4, 1], "sequence-mean"), [1 / 8, 1 / 2])
        self.assertEqual(token_scales([2, 0, 5], "sequence-mean"), [1 / 4, 0, 1 / 10])

    def test_constant_is_the_longest_unless_given(self):
        self.assertEqual(token_scales([4, 1], "constant"), [1 / 8, 1 / 8])
        self.assertEqual(token_scales([4, 1], "constant", 10), [1 / 20, 1 / 20])

    def test_nothing_and_nobody_knows(self):
        self.assertEqual(token_scales([], "token-mean"), [])
        self.assertEqual(token_scales([0], "constant"), [0])
        with self.assertRaisesRegex(
            ValueError, "aggregation must be one of token-mean, sequence-mean, constant, not 'mean'"
        ):
            token_scales([1], "mean")

    def test_each_token_gets_its_sequences(self):
        offsets = torch.tensor([0, 2, 2, 3], dtype=torch.int32)
        got = spread([0.25, 9.0, 0.5], offsets)
        self.assertEqual((got.dtype, got.tolist()), (torch.float32, [0.25, 0.25, 0.5]))


class Episodes(unittest.TestCase):
    def test_sums_over_the_sequences_of_each_in_float64(self):
        logp = torch.tensor([-1.0, -2.0, -math.inf, -4.0, -8.0, -16.0])
        offsets = torch.tensor([0, 2, 3, 4, 6], dtype=torch.int32)
        got = episode_sums(logp, offsets, [1, 1, -1, 0], 3)
        self.assertEqual((got.dtype, got.tolist()), (torch.float64, [-24.0, -3.0, 0.0]))
        many = episode_sums(torch.full((1 << 20,), -0.1), torch.tensor([0, 1 << 20]), [0], 1)
        self.assertAlmostEqual(many.item(), -float(torch.tensor(0.1)) * (1 << 20), delta=1e-6)


class Dpo(unittest.TestCase):
    def test_equals_plain_pytorch_with_an_episode_in_two_pairs(self):
        policy = doubles(-3.0, -5.0, -4.0, -7.5).requires_grad_()
        reference, pairs, beta = doubles(-3.5, -4.0, -4.25, -6.0), [[0, 1], [0, 3], [2, 1]], 0.5
        got = dpo(KERNELS, policy.detach(), reference, pairs, beta)
        rewards = beta * (policy - reference)
        chosen, rejected = rewards[[0, 0, 2]], rewards[[1, 3, 1]]
        loss = -logsigmoid(chosen - rejected).mean()
        (slopes,) = torch.autograd.grad(loss, policy)
        self.assertAlmostEqual(got.loss, loss.item(), delta=1e-14)
        torch.testing.assert_close(got.scales, -slopes, atol=1e-15, rtol=0)
        self.assertEqual(set(got.more), {"rewards_chosen", "rewards_rejected", "rewards_margins", "rewards_accuracies"})
        self.assertAlmostEqual(got.more["rewards_chosen"], (0.25 + 0.25 + 0.125) / 3, delta=1e-14)
        self.assertAlmostEqual(got.more["rewards_rejected"], (-0.5 - 0.75 - 0.5) / 3, delta=1e-14)
        self.assertAlmostEqual(got.more["rewards_margins"], (0.75 + 1 + 0.625) / 3, delta=1e-14)
        self.assertEqual(got.more["rewards_accuracies"], 1)

    def test_accuracy_counts_the_pairs_that_are_in_order(self):
        got = dpo(KERNELS, doubles(0, 1, 2), doubles(0, 0, 0), [[1, 0], [1, 2], [0, 2], [0, 0]], 0.1)
        self.assertEqual(got.more["rewards_accuracies"], 0.25)

    def test_equals_the_reference_numbers(self):
        cases = [
            c for c in json.loads(plain.golden("preference_loss.json").read_text())["cases"] if c["objective"] == "dpo"
        ]
        self.assertTrue(cases)
        for case in cases:
            size = len(case["policy_chosen"])
            policy, reference = (doubles(*case[f"{who}_chosen"], *case[f"{who}_rejected"]) for who in ("policy", "ref"))
            got = dpo(KERNELS, policy, reference, [[i, size + i] for i in range(size)], case["beta"])
            self.assertAlmostEqual(got.loss, case["want"]["loss"], delta=1e-12)
            want = doubles(*case["want"]["d_policy_chosen"], *case["want"]["d_policy_rejected"])
            torch.testing.assert_close(got.scales, -want, atol=1e-14, rtol=1e-12)

    def test_no_pair_is_refused(self):
        with self.assertRaisesRegex(ValueError, "at least one pair"):
            dpo(KERNELS, doubles(), doubles(), [], 0.1)


def plain_kto(
    policy: Tensor, reference: Tensor, desirable: list[bool], beta: float, z: float, weights: tuple[float, float]
) -> Tensor:
    losses = [
        weights[0] * (1 - torch.sigmoid(beta * (p - r - z)))
        if good
        else weights[1] * (1 - torch.sigmoid(beta * (z - p + r)))
        for p, r, good in zip(policy, reference, desirable)
    ]
    return torch.stack(losses).mean()


class Kto(unittest.TestCase):
    def test_equals_plain_pytorch(self):
        policy, reference = doubles(-3.0, -5.0, -4.0, -7.5).requires_grad_(), doubles(-3.5, -4.0, -4.25, -6.0)
        desirable = [True, False, True, False]
        got = kto(KERNELS, policy.detach(), reference, desirable, 0.4, 0.3, 1.5, 0.5)
        loss = plain_kto(policy, reference, desirable, 0.4, 0.3, (1.5, 0.5))
        (slopes,) = torch.autograd.grad(loss, policy)
        self.assertAlmostEqual(got.loss, loss.item(), delta=1e-14)
        torch.testing.assert_close(got.scales, -slopes, atol=1e-15, rtol=0)
        self.assertEqual(set(got.more), {"kl", "rewards_chosen", "rewards_rejected", "rewards_margins"})
        self.assertEqual(got.more["kl"], 0.3)
        self.assertAlmostEqual(got.more["rewards_chosen"], 0.4 * 0.375, delta=1e-14)
        self.assertAlmostEqual(got.more["rewards_rejected"], 0.4 * -1.25, delta=1e-14)
        self.assertAlmostEqual(got.more["rewards_margins"], 0.4 * 1.625, delta=1e-14)

    def test_leaves_out_what_only_the_other_kind_has(self):
        got = kto(KERNELS, doubles(1.0), doubles(0.0), [True], 0.5, 0.0)
        self.assertEqual(got.more, {"kl": 0.0, "rewards_chosen": 0.5})

    def test_reference_point_is_the_mean_and_never_below_zero(self):
        self.assertEqual(kto_reference_point(doubles(-1.0, -2.0), doubles(-3.0, -2.5)), 1.25)
        self.assertEqual(kto_reference_point(doubles(-4.0, -2.0), doubles(-3.0, -2.5)), 0)
        self.assertEqual(kto_reference_point(doubles(), doubles()), 0)

    def test_equals_the_reference_numbers(self):
        cases = [
            c for c in json.loads(plain.golden("preference_loss.json").read_text())["cases"] if c["objective"] == "kto"
        ]
        self.assertTrue(cases)
        for case in cases:
            weights = case["desirable_weight"], case["undesirable_weight"]
            policy, reference, desirable = doubles(*case["policy"]), doubles(*case["ref"]), case["desirable"]
            got = kto(KERNELS, policy, reference, desirable, case["beta"], case["reference_point"], *weights)
            self.assertAlmostEqual(got.loss, case["want"]["loss"], delta=1e-12)
            torch.testing.assert_close(got.scales, -doubles(*case["want"]["d_policy"]), atol=1e-14, rtol=1e-12)

    def test_no_episode_is_refused(self):
        with self.assertRaisesRegex(ValueError, "at least one episode"):
            kto(KERNELS, doubles(), doubles(), [], 0.1, 0.0)


class Together(unittest.TestCase):
    """Scores, then weights of episodes, then the tokens' gradients: what a preference step is."""

    def setUp(self):
        make = torch.Generator().manual_seed(3)
        self.layer = nn.Linear(6, 23, bias=False)
        self.hidden = torch.randn(11, 6, generator=make).requires_grad_()
        self.targets = torch.randint(0, 23, (11,), generator=make, dtype=torch.int32)
        self.offsets, self.episodes = torch.tensor([0, 3, 4, 8, 11], dtype=torch.int32), [0, 1, 0, 2]
        self.reference = doubles(-20.0, -3.0, -9.0)

    def hold(self, preference, loss_of) -> None:
        head = PolicyHead(self.layer, KERNELS, chunk=3)
        logp, _ = head.score(self.hidden, self.targets)
        found = preference(episode_sums(logp, self.offsets, self.episodes, 3))
        scale = spread(found.scales[self.episodes], self.offsets)
        outcome = head(self.hidden, self.targets, self.offsets, scale, None, None, None, None, LossSettings("sft"))
        got = torch.autograd.grad(outcome.loss, [self.hidden, self.layer.weight])

        logs, _ = plain.log_probabilities(self.layer(self.hidden).double(), self.targets, 1.0)
        sums = torch.stack([logs[0:3].sum() + logs[4:8].sum(), logs[3:4].sum(), logs[8:11].sum()])
        loss = loss_of(sums)
        self.assertAlmostEqual(found.loss, loss.item(), delta=1e-5)
        for one, other in zip(got, torch.autograd.grad(loss, [self.hidden, self.layer.weight])):
            self.assertGreater(float(other.abs().max()), 1e-3)
            torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)

    def test_dpo(self):
        pairs = [[0, 1], [2, 1]]

        def loss(sums: Tensor) -> Tensor:
            margins = sums - self.reference
            return -logsigmoid(0.3 * torch.stack([margins[0] - margins[1], margins[2] - margins[1]])).mean()

        self.hold(lambda sums: dpo(KERNELS, sums, self.reference, pairs, 0.3), loss)

    def test_kto(self):
        desirable = [True, False, True]
        self.hold(
            lambda sums: kto(KERNELS, sums, self.reference, desirable, 0.3, 0.2),
            lambda sums: plain_kto(sums, self.reference, desirable, 0.3, 0.2, (1, 1)),
        )


class Statistics(unittest.TestCase):
    def test_are_added_but_for_the_greatest_weight(self):
        parts = [{name: float(k + i) for k, name in enumerate(abi.STATISTICS)} for i in (2, 1)]
        want = {name: float(2 * k + 3) for k, name in enumerate(abi.STATISTICS)}
        want["weight_max"] = abi.STATISTICS.index("weight_max") + 2.0
        self.assertEqual(merge(parts), want)
        self.assertEqual(set(merge([]).values()), {0.0})


if __name__ == "__main__":
    unittest.main()
