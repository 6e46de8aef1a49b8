"""How much memory the head takes, beside logits that are made whole; each is measured in a process of its own."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plain  # first: it says where dart_torch is
import torch
from dart_torch.head import PolicyHead
from dart_torch.kernels import LossSettings
from torch import nn

ROWS, VOCABULARY, WIDTH, CHUNK = 8192, 32_768, 16, 512
MATRIX = ROWS * VOCABULARY * 4  # bytes of logits in float32


def resident(field: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at most so far."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field + ":"))


def growth(way: str) -> int:
    """The peak of memory in a forward and backward pass beyond what there was before."""
    hidden = torch.randn(ROWS, WIDTH, requires_grad=True)
    layer = nn.Linear(WIDTH, VOCABULARY, bias=False)
    targets = torch.randint(0, VOCABULARY, (ROWS,), dtype=torch.int32)
    scale, advantage = torch.full((ROWS,), 1 / ROWS), torch.randn(ROWS)
    head = PolicyHead(layer, plain.kernels(), CHUNK)
    head.score(hidden[:1], targets[:1])
    before = resident("VmRSS")
    if way == "head":
        head(hidden, targets, None, scale, advantage, None, None, None, LossSettings()).loss.backward()
    else:
        logp = torch.log_softmax(layer(hidden), 1).gather(1, targets.long()[:, None])[:, 0]
        (-(logp - logp.detach()).exp() * advantage * scale).sum().backward()
    assert hidden.grad.abs().sum() > 0 and layer.weight.grad.abs().sum() > 0
    return resident("VmHWM") - before


@unittest.skipUnless(os.path.exists("/proc/self/status"), "there is no /proc/self/status")
class Memory(unittest.TestCase):
    def measure(self, way: str) -> int:
        run = subprocess.run(
            [sys.executable, "-B", __file__, "--measure", way], check=True, capture_output=True, text=True
        )
        return int(run.stdout)

    def test_stays_far_below_the_matrix_of_logits(self):
        head, eager = self.measure("head"), self.measure("eager")
        text = f"{ROWS} rows, vocabulary {VOCABULARY}: the head takes {head >> 20} MiB, whole logits {eager >> 20} MiB"
        print(f"{text}, the matrix has {MATRIX >> 20} MiB", file=sys.stderr)
        chunk = CHUNK * VOCABULARY * 4
        self.assertGreater(head, chunk)
        self.assertLess(head, chunk + MATRIX // 16)
        self.assertGreater(eager, 2 * MATRIX)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(growth(sys.argv[2]))
    else:
        unittest.main()
