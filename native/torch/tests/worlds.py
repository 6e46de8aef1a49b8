"""A trainer for tests: real torchrun processes on the CPU, spoken to as the driver does."""

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
LIBRARY = os.environ.get("DART_CPU_LIBRARY") or PACKAGE.parent / "build" / "Release" / "libdart_cpu.so"
LIMIT = 180.0  # seconds for one answer: no test's result depends on it

GRPO = {
    "surrogate": "grpo",
    "clip_low": 0.2,
    "clip_high": 0.28,
    "dual_clip": None,
    "tis_cap": None,
    "tis_level": "token",
    "tis_mode": "truncate",
    "kl_beta": 0.0,
    "kl_estimator": "k3",
    "entropy_coef": 0.0,
    "aggregation": "token-mean",
    "aggregation_constant": None,
}
MODEL = {
    "dtype": "float32",
    "lora": None,
    "freeze_vision": False,
    "gradient_checkpointing": True,
    "reference": "none",
    "attention": "eager",
    "packed": True,
    "micro_tokens": 400,
    "head_chunk": 16,
    "max_length": 4096,
    "offload": False,
}
ADAMW = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.0, "max_grad_norm": None}


class World:
    """A running trainer of `ranks` processes, or `script` in its place; use with `with`, which kills what is left."""

    def __init__(self, ranks: int, script: Path | None = None):
        self.ranks, self.number, self.events = ranks, 0, []
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--max-restarts", "0"]
        self.process = subprocess.Popen(
            [*command, "--nproc-per-node", str(ranks), *([str(script)] if script else ["-m", "dart_torch"])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.errors: list[str] = []
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for thread in self.threads:
            thread.start()

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            for pid in [*self.pids(), self.process.pid]:
                os.kill(pid, 9)
        self.process.wait()
        for thread in self.threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self) -> None:
        for line in self.process.stderr:
            self.errors.append(line)

    def send(self, do: str, **fields: Any) -> None:
        """Writes a request."""
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, "do": do, **fields}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any] | None:
        """The next answer, events kept apart; null when the trainer has ended without one."""
        while True:
            line = self.lines.get(timeout=LIMIT)
            if line is None:
                return None
            message = json.loads(line)
            if "event" not in message:
                assert message["id"] == self.number, message
                return message
            self.events.append(message)

    def ask(self, do: str, **fields: Any) -> Any:
        """A request and what came of it; raises AssertionError with the trainer's stderr where that is an error."""
        self.send(do, **fields)
        message = self.answer()
        assert message is not None and "ok" in message, f"{message}\n{''.join(self.errors)[-6000:]}"
        return message["ok"]

    def open(self, checkpoint: Path, blobs: Path, objective: dict[str, Any] | None = None, **model: Any) -> Any:
        """Opens a checkpoint in float32; `model` replaces settings, `optimizer` among them."""
        optimizer = {**ADAMW, **model.pop("optimizer", {})}
        return self.ask(
            "open",
            checkpoint=str(checkpoint),
            blobs=str(blobs),
            objective=objective or GRPO,
            model={**MODEL, **model},
            optimizer=optimizer,
            seed=1,
            kernels={"cpu": str(LIBRARY), "cuda": None},
        )

    def step(self, file: Path, kind: str = "policy", lr: float = 1e-3, **fields: Any) -> Any:
        """One optimiser step on the policy that sampled."""
        usual = {"file": str(file), "lr": lr, "kind": kind, "on_policy": True, "fresh": True}
        return self.ask("step", **{**usual, **fields})

    def close(self) -> int:
        """Ends the trainer as the driver does; gives torchrun's exit status."""
        self.ask("close")
        return self.process.wait(timeout=LIMIT)

    def pids(self) -> list[int]:
        """The ranks' processes, by rank."""
        found = {}
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                parent = int(re.sub(r".*\) ", "", (path.parent / "stat").read_text(), flags=re.S).split()[1])
                variables = path.read_bytes()
            except (OSError, ValueError):
                continue
            rank = re.search(rb"(?:^|\0)RANK=(\d+)\0", variables)
            if rank and parent == self.process.pid:
                found[int(rank[1])] = int(path.parent.name)
        return [found[rank] for rank in sorted(found)]


def until(condition: Callable[[], bool], what: str, limit: float = LIMIT) -> None:
    """Waits for something that has to come; raises AssertionError when it has not within the limit."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"waited {limit} s for {what}"
        time.sleep(0.05)
