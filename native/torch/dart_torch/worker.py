"""What every rank does for a request: all ranks run the same passes and agree on what comes of them."""

import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from transformers import AutoProcessor

from . import checkpoint
from .batches import MicroBatch, plan
from .head import Outcome, PolicyHead
from .kernels import Kernels, LossSettings
from .model import Policy
from .objectives import Preference, dpo, episode_sums, kto, kto_reference_point, merge, spread, token_scales
from .optimizer import Optimizer
from .prompts import Encoded, Encoder
from .protocol import Protocol, SampleFault
from .samples import SampleError, read_samples
from .settings import OptimizerSettings, read, read_model

T = TypeVar("T")
Measured = list[tuple[Tensor, Tensor]]  # of each example the log-probability and entropy of each reply token, on the CPU


class Clock:
    """Where the seconds of a step go. On a GPU events are recorded, and nobody waits for them before the end."""

    def __init__(self, device: torch.device):
        self.cuda = device.type == "cuda"
        self.marks: list[tuple[str, Any]] = []
        self.lap("")

    def lap(self, name: str) -> None:
        """The time since the last lap was spent on `name`."""
        now: Any = torch.cuda.Event(enable_timing=True) if self.cuda else time.perf_counter()
        if self.cuda:
            now.record()
        self.marks.append((name, now))

    def seconds(self) -> dict[str, float]:
        """Seconds by name; waits for the device."""
        if self.cuda:
            torch.cuda.synchronize()
        total = dict.fromkeys(("forward", "head", "backward", "optimizer"), 0.0)
        for (_, before), (name, after) in zip(self.marks, self.marks[1:]):
            total[name] += before.elapsed_time(after) / 1000 if self.cuda else after - before
        return total


class Worker:
    """One rank of the trainer; `handle` is all that the protocol needs."""

    def __init__(self, protocol: Protocol, mesh: DeviceMesh, device: torch.device):
        self.protocol, self.mesh, self.device = protocol, mesh, device
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.steps = 0
        self.scored: dict[str, tuple[int, Tensor]] = {}  # id to the step before which it was scored, and [tokens]

    def handle(self, request: dict[str, Any]) -> Any:
        """The answer to a request. Raises ValueError on one that there is not, SampleFault where the next may come."""
        actions = {name: getattr(self, name) for name in ("open", "score", "step", "save", "restore")}
        if request["do"] not in actions:
            raise ValueError(request.get("message") or f"no such request: {request['do']}")
        return actions[request["do"]](request)

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Loads the checkpoint onto the ranks."""
        self.objective: dict[str, Any] = request["objective"]
        self.settings = settings = read_model(request["model"])
        self.checkpoint = Path(request["checkpoint"])
        self.kernels = kernels = Kernels(**request["kernels"])
        torch.manual_seed(request["seed"] * 1009 + self.rank)
        if settings.reference == "none" and (self.objective.get("kl_beta") or {"dpo", "kto"} & set(self.objective)):
            raise ValueError("the objective compares with a reference policy, and model.reference is none")

        def policy(trained: bool) -> Policy:
            def head(layer: torch.nn.Module) -> PolicyHead:
                return PolicyHead(layer, kernels, settings.head_chunk)

            return Policy(self.checkpoint, settings, self.mesh, self.device, head, request["seed"], trained)

        self.policy = policy(trained=True)
        self.reference = policy(trained=False).eval() if settings.reference == "copy" else None
        processor = AutoProcessor.from_pretrained(self.checkpoint, local_files_only=True)
        self.encoder = Encoder(processor, request["blobs"], settings.max_length, self.policy.vocabulary)
        self.optimizer = Optimizer(self.policy.trainable(), read(OptimizerSettings, request["optimizer"]))
        parameters, trainable = self.policy.count()
        return {
            "parameters": parameters,
            "trainable": trainable,
            "vocabulary": self.policy.vocabulary,
            "world_size": self.world,
            "device": self.device.type,
            "backend": "nccl" if self.device.type == "cuda" else "gloo",
            "dtype": settings.dtype,
            "memory_bytes": self.memory(),
        }

    def score(self, request: dict[str, Any]) -> dict[str, Any]:
        """Log-probabilities under the current weights, kept for later steps, and entropies."""
        encoded = self.read(request["file"])
        measured = self.measure(encoded)
        for each, (logp, _) in zip(encoded, measured):
            self.scored[each.sample.id] = (self.steps, logp)
        return {
            "entropy": [float(entropy.mean()) for _, entropy in measured],
            "tokens": [len(logp) for logp, _ in measured],
            "rollout_logp_used": [each.sample.rollout_logp is not None for each in encoded],
        }

    def step(self, request: dict[str, Any]) -> dict[str, Any]:
        """One optimiser step on all examples of the file, or none where loss or gradient are not finite."""
        encoded, kind = self.read(request["file"]), request["kind"]
        if request["fresh"]:
            self.scored = {name: value for name, value in self.scored.items() if value[0] == self.steps}
        clock = Clock(self.device)
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        preference, advantages = None, None
        if kind in ("dpo", "kto"):
            preference = self.prefer(encoded, request)
            scales = [float(preference.scales[e.sample.episode]) if e.sample.episode >= 0 else 0.0 for e in encoded]
            clock.lap("forward")
        else:
            lengths = [len(each.input_ids) - each.reply_start for each in encoded]
            aggregation = self.objective.get("aggregation", "token-mean")
            scales = token_scales(lengths, aggregation, self.objective.get("aggregation_constant"))
            advantages = [each.sample.advantage for each in encoded]
        objective = self.objective if kind == "policy" else {"surrogate": "sft"}
        old = self.old_logp(encoded) if kind == "policy" and not request["on_policy"] else None
        batches = self.plan(encoded)
        parts = []
        self.policy.train()
        for done, batch in enumerate(batches):
            outcome = self.gradient(batch, encoded, objective, scales, advantages, old, clock)
            parts.append(outcome.statistics)
            self.protocol.progress(done + 1, len(batches))
        statistics = merge(self.gather(merge(parts)))
        loss = statistics["loss"] if preference is None else preference.loss
        sound = statistics["nonfinite"] == 0 and abs(loss) < float("inf")
        applied, norm = self.optimizer.step(request["lr"], sound)
        clock.lap("optimizer")
        self.steps += 1
        return {
            "applied": applied,
            "loss": loss,
            "grad_norm": norm,
            "statistics": statistics,
            "more": {} if preference is None else preference.more,
            "seconds": clock.seconds(),
            "memory_bytes": self.memory(),
        }

    def save(self, request: dict[str, Any]) -> dict[str, Any]:
        """Writes the weights, and with `state` what training goes on from, into an empty folder."""
        folder = Path(request["folder"])
        group = self.protocol.control
        return {"files": checkpoint.save(folder, self.checkpoint, self.policy, self.optimizer, request["state"], group)}

    def restore(self, request: dict[str, Any]) -> dict[str, Any]:
        """Goes on from a folder that `save` wrote with `state`."""
        checkpoint.restore(Path(request["folder"]), self.policy, self.optimizer, self.protocol.control)
        self.scored = {}
        return {}

    def read(self, file: str) -> list[Encoded]:
        """The examples of a file. Raises SampleFault on every rank when one of them cannot be used."""
        fault, encoded = None, []
        try:
            encoded = [self.encoder.encode(sample) for sample in read_samples(file)]
        except SampleError as error:
            fault = (self.rank, error.where, error.message)
        for found in self.gather(fault):
            if found is not None:
                raise SampleFault(*found)
        return encoded

    def plan(self, encoded: list[Encoded]) -> list[MicroBatch]:
        """This rank's micro-batches, as many as any other's."""
        return plan(encoded, self.settings.micro_tokens, self.settings.packed, self.rank, self.world)

    def gather(self, value: T) -> list[T]:
        """Every rank's value, by rank."""
        values: list[Any] = [None] * self.world
        dist.all_gather_object(values, value, group=self.protocol.control)
        return values

    @torch.no_grad()
    def measure(self, encoded: list[Encoded], reference: bool = False) -> Measured:
        """Log-probabilities and entropies of all replies under the policy or its reference; the same on every rank."""
        found: dict[int, tuple[Tensor, Tensor]] = {}
        batches = self.plan(encoded)
        for done, batch in enumerate(batches):
            logp, entropy = (value.cpu() for value in self.pass_without_gradient(batch, reference))
            for index, begin, end in zip(batch.indices, batch.offsets.tolist(), batch.offsets.tolist()[1:]):
                found[index] = (logp[begin:end], entropy[begin:end])
            self.protocol.progress(done + 1, len(batches))
        everywhere = {index: value for part in self.gather(found) for index, value in part.items()}
        return [everywhere[index] for index in range(len(encoded))]

    @torch.no_grad()
    def pass_without_gradient(self, batch: MicroBatch, reference: bool) -> tuple[Tensor, Tensor]:
        """logp and entropy [N] of a micro-batch under the policy, or under the reference that the settings name."""
        targets = batch.targets.to(self.device)

        def run(head: PolicyHead, hidden: Tensor) -> tuple[Tensor, Tensor]:
            return head.score(hidden, targets, batch.temperature)

        if reference and self.reference is not None:
            return self.reference(batch, run)
        training = self.policy.training
        self.policy.eval()
        try:
            if not reference:
                return self.policy(batch, run)
            with self.policy.without_adapters():
                return self.policy(batch, run)
        finally:
            self.policy.train(training)

    def gradient(
        self,
        batch: MicroBatch,
        encoded: list[Encoded],
        objective: dict[str, Any],
        scales: list[float],
        advantages: list[float] | None,
        old: list[Tensor] | None,
        clock: Clock,
    ) -> Outcome:
        """Adds one micro-batch's share to the gradients. `scales`, `advantages` and `old` have an entry an example."""
        filler = batch.indices[0] < 0
        offsets = batch.offsets.to(self.device)

        def each(values: list[float] | None) -> Tensor | None:
            chosen = None if values is None else [0.0 if filler else values[index] for index in batch.indices]
            return None if chosen is None else spread(chosen, offsets)

        def tokens(values: list[Tensor] | None) -> Tensor | None:
            if values is None or filler:
                return None
            return torch.cat([values[index] for index in batch.indices]).to(self.device)

        lengths = [len(e.input_ids) - e.reply_start for e in encoded]
        rollout = [
            torch.full((length,), torch.nan) if e.sample.rollout_logp is None else torch.tensor(e.sample.rollout_logp)
            for e, length in zip(encoded, lengths)
        ]
        settings = LossSettings.of(objective, batch.temperature)
        known = self.pass_without_gradient(batch, reference=True)[0] if settings.kl_beta else None
        targets = torch.full_like(batch.targets, -1) if filler else batch.targets
        inputs = (each(scales), each(advantages), tokens(old), tokens(rollout), known)

        def run(head: PolicyHead, hidden: Tensor) -> Outcome:
            clock.lap("forward")
            outcome = head(hidden, targets.to(self.device), offsets, *inputs, settings)
            clock.lap("head")
            return outcome

        outcome: Outcome = self.policy(batch, run)
        outcome.loss.backward()
        clock.lap("backward")
        return outcome

    def old_logp(self, encoded: list[Encoded]) -> list[Tensor]:
        """What `score` measured, in the examples' order."""
        for each in encoded:
            if each.sample.id not in self.scored:
                raise ValueError(f"{each.sample.where}: a step off the policy needs the example scored before")
        return [self.scored[each.sample.id][1] for each in encoded]

    def prefer(self, encoded: list[Encoded], request: dict[str, Any]) -> Preference:
        """The loss over episodes, and by how much each of their tokens' log-probabilities should move."""
        episodes = [each.sample.episode for each in encoded]
        count = max(episodes, default=-1) + 1
        policy, reference = (self.sums(encoded, episodes, count, reference) for reference in (False, True))
        if request["kind"] == "dpo":
            return dpo(self.kernels, policy, reference, request["pairs"], self.objective["dpo"]["beta"])
        settings = self.objective["kto"]
        moved = mismatched(encoded)
        apart = [self.sums(moved, episodes, count, reference) for reference in (False, True)] if moved else []
        point = kto_reference_point(*apart) if apart else 0.0
        weights = (settings["desirable_weight"], settings["undesirable_weight"])
        return kto(self.kernels, policy, reference, request["labels"], settings["beta"], point, *weights)

    def sums(self, encoded: list[Encoded], episodes: list[int], count: int, reference: bool) -> Tensor:
        """Each episode's summed log-probability [count], float64 on the CPU."""
        logp = [logp for logp, _ in self.measure(encoded, reference)]
        offsets = torch.tensor([0, *torch.tensor([len(each) for each in logp]).cumsum(0).tolist()])
        return episode_sums(torch.cat(logp), offsets, episodes, count)

    def memory(self) -> int:
        """The most bytes that any rank used: of its GPU since the last step began, or of its process."""
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if self.device.type == "cuda":
            own = torch.cuda.max_memory_allocated()
        return max(self.gather(own))


def mismatched(encoded: list[Encoded]) -> list[Encoded]:
    """
    The examples with replies that belong to other prompts, for KTO's estimate of the KL divergence. TRL gives example i
    of a batch the completion of example i - 1; here episodes are shifted likewise: the k-th step of an episode gets the
    k-th reply of the next episode that has any (counted round, where that has fewer steps; after the last comes the first).
    Empty where there is but one episode: then the reference point is 0.
    """
    members: dict[int, list[Encoded]] = {}
    for each in encoded:
        members.setdefault(each.sample.episode, []).append(each)
    order = sorted(episode for episode in members if episode >= 0)
    if len(order) < 2:
        return []
    after = dict(zip(order, [*order[1:], order[0]]))
    seen = dict.fromkeys(members, 0)
    moved = []
    for each in encoded:
        episode = each.sample.episode
        others = members[after.get(episode, episode)]
        moved.append(with_reply(each, others[seen[episode] % len(others)]))
        seen[episode] += 1
    return moved


def with_reply(prompt: Encoded, other: Encoded) -> Encoded:
    """The prompt of one example with the reply of another."""
    reply = other.input_ids[other.reply_start :]
    begin = prompt.position_ids[:, prompt.reply_start, None]
    return replace(
        prompt,
        input_ids=torch.cat([prompt.input_ids[: prompt.reply_start], reply]),
        position_ids=torch.cat(
            [prompt.position_ids[:, : prompt.reply_start], begin + torch.arange(len(reply))], dim=1
        ),
    )
