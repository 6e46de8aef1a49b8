"""What every rank does for a request: all ranks run the same passes and agree on what comes of them."""

import resource
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
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


class Wanted(NamedTuple):
    """What the update wants of an example; NaN where a log-probability is not known."""

    scale: float
    advantage: float
    old: Tensor  # [tokens]
    rollout: Tensor  # [tokens]


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
        for (_, before), (name, after) in pairwise(self.marks):
            total[name] += before.elapsed_time(after) / 1000 if self.cuda else after - before
        return total


class Worker:
    """One rank of the trainer; `handle` is all that the protocol needs."""

    def __init__(self, protocol: Protocol, mesh: DeviceMesh, device: torch.device):
        self.protocol, self.mesh, self.device = protocol, mesh, device
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.scored: dict[str, Tensor] = {}  # id to logo [tokens]
        self.moved = False  # the weights are others than those that were scored

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request. Raises KeyError on one that there is not, SampleFault where the next may come."""
        names = ("open", "score", "step", "save", "restore")
        return {name: getattr(self, name) for name in names}[request["do"]](request)

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Loads the checkpoint onto the ranks."""
        self.objective: dict[str, Any] = request["objective"]
        self.settings = settings = read_model(request["model"])
        self.checkpoint = Path(request["checkpoint"])
        self.kernels = Kernels(**request["kernels"])
        torch.manual_seed(request["seed"] * 1009 + self.rank)

        def policy(trained: bool) -> Policy:
            def head(layer: nn.Module) -> PolicyHead:
                return PolicyHead(layer, self.kernels, settings.head_chunk)

            return Policy(self.checkpoint, settings, self.mesh, self.device, head, request["seed"], trained)

        self.policy = policy(trained=True)
        self.reference = policy(trained=False) if settings.reference == "copy" else None
        processor = AutoProcessor.from_pretrained(self.checkpoint, local_files_only=True)
        size = processor.image_processor.size
        processor.image_processor.size = type(size)(**{**dict(size), **settings.pixels})
        self.encoder = Encoder(processor, request["blobs"], settings.max_length, self.policy.vocabulary)
        self.optimizer = Optimizer(self.policy.trainable(), read(OptimizerSettings, request["optimizer"]))
        sizes = [(weight.numel(), weight.requires_grad) for weight in self.policy.parameters()]
        return {
            "parameters": sum(size for size, _ in sizes),
            "trainable": sum(size for size, trained in sizes if trained),
            "vocabulary": self.policy.vocabulary,
            "world_size": self.world,
            "device": self.device.type,
            "backend": "nccl" if self.device.type == "cuda" else "gloo",
            "dtype": settings.dtype,
            "memory_bytes": self.memory(),
        }

    def score(self, request: dict[str, Any]) -> dict[str, Any]:
        """Entropies, and log-probabilities under the current weights, kept until later ones replace them."""
        encoded = self.read(request["file"])
        measured = self.measure(encoded)
        if self.moved:
            self.scored, self.moved = {}, False
        self.scored |= {each.sample.id: logp for each, (logp, _) in zip(encoded, measured)}
        return {
            "entropy": [float(entropy.mean()) for _, entropy in measured],
            "tokens": [len(logp) for logp, _ in measured],
            "rollout_logp_used": [each.sample.rollout_logp is not None for each in encoded],
        }

    def step(self, request: dict[str, Any]) -> dict[str, Any]:
        """One optimiser step on all examples of the file, or none where loss or gradient are not finite."""
        encoded, kind = self.read(request["file"]), request["kind"]
        clock = Clock(self.device)
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        objective = self.objective if kind == "policy" else {"surrogate": "sft"}
        preference = self.prefer(encoded, request) if kind in ("dpo", "kto") else None
        clock.lap("forward")
        wanted = self.wanted(encoded, preference, kind == "policy", request["on_policy"])
        parts = [self.gradient(*batch, wanted, objective, clock) for batch in self.batches(encoded)]
        if self.reference:
            self.reference.reshard()
        statistics = merge(self.gather(merge(parts)))
        loss = statistics["loss"] if preference is None else preference.loss
        sound = statistics["nonfinite"] == 0 and abs(loss) < float("inf")
        applied, norm = self.optimizer.step(request["lr"], sound)
        clock.lap("optimizer")
        self.moved = True
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
        place = (Path(request["folder"]), self.checkpoint)
        return {"files": checkpoint.save(*place, self.policy, self.optimizer, request["state"], self.protocol.control)}

    def restore(self, request: dict[str, Any]) -> dict[str, Any]:
        """Goes on from a folder that `save` wrote with `state`."""
        checkpoint.restore(Path(request["folder"]), self.policy, self.optimizer, self.protocol.control)
        self.scored = {}
        return {}

    def read(self, file: str) -> list[Encoded]:
        """The examples of a file. Raises SampleFault on every rank when one of them cannot use one."""
        fault, encoded = None, []
        try:
            encoded = [self.encoder.encode(sample) for sample in read_samples(file)]
        except SampleError as error:
            fault = (self.rank, error.where, error.message)
        for found in self.gather(fault):
            if found is not None:
                raise SampleFault(*found)
        return encoded

    def batches(self, encoded: list[Encoded]) -> Iterator[tuple[MicroBatch, Tensor | None]]:
        """This rank's micro-batches, as many as any other's, with their pixels [P, D]: the next one's are read and cut
        meanwhile."""
        batches = plan(encoded, self.settings.micro_tokens, self.settings.packed, self.rank, self.world)
        with ThreadPoolExecutor(1) as reader:
            coming = reader.submit(getattr, batches[0], "pixel_values") if batches else None
            for done, batch in enumerate(batches, 1):
                pixels = coming.result()
                if done < len(batches):
                    coming = reader.submit(getattr, batches[done], "pixel_values")
                yield batch, pixels
                self.protocol.progress(done, len(batches))

    def gather(self, value: T) -> list[T]:
        """Every rank's value, by rank."""
        values: list[Any] = [None] * self.world
        dist.all_gather_object(values, value, group=self.protocol.control)
        return values

    def measure(self, encoded: list[Encoded], reference: bool = False) -> list[tuple[Tensor, Tensor]]:
        """Each reply's log-probabilities and entropies [tokens] under the policy or its reference, on the CPU; the same
        on every rank."""
        found: dict[int, tuple[Tensor, Tensor]] = {}
        for batch, pixels in self.batches(encoded):
            logp, entropy = (value.cpu() for value in self.look(batch, pixels, reference))
            for index, (begin, end) in zip(batch.indices, pairwise(batch.offsets.tolist())):
                found[index] = (logp[begin:end], entropy[begin:end])
        self.compared(reference).reshard()
        everywhere = {index: value for part in self.gather(found) for index, value in part.items()}
        return [everywhere[index] for index in range(len(encoded))]

    @torch.no_grad()
    def look(self, batch: MicroBatch, pixels: Tensor | None, reference: bool) -> tuple[Tensor, Tensor]:
        """logp and entropy [N] of a micro-batch under the policy, or under the reference that the settings name."""
        targets = batch.targets.to(self.device)

        def run(head: PolicyHead, hidden: Tensor) -> tuple[Tensor, Tensor]:
            return head.score(hidden, targets, batch.temperature)

        policy = self.compared(reference).eval()
        with policy.model.disable_adapter() if reference and policy is self.policy else nullcontext():
            return policy(batch, run, pixels)

    def compared(self, reference: bool) -> Policy:
        """What holds the weights of the policy or of its reference, which may be the policy without adapters."""
        return self.reference if reference and self.reference else self.policy

    def wanted(
        self, encoded: list[Encoded], preference: Preference | None, policy: bool, on_policy: bool
    ) -> list[Wanted]:
        """What the update wants of each example. A token's scale is its share of the whole step, over all ranks."""
        lengths = [len(each.input_ids) - each.reply_start for each in encoded]
        if preference is not None:
            # Episode -1 is none.
            scales = [*preference.scales.tolist(), 0.0]
            scales = [scales[each.sample.episode] for each in encoded]
        else:
            aggregation = self.objective.get("aggregation", "token-mean")
            scales = token_scales(lengths, aggregation, self.objective.get("aggregation_constant"))
        wanted = []
        for each, length, scale in zip(encoded, lengths, scales):
            sample = each.sample
            old = rollout = torch.full((length,), torch.nan)
            if policy and not on_policy:
                if sample.id not in self.scored:
                    raise ValueError(f"{sample.where}: a step off the policy needs the example scored before")
                old = self.scored[sample.id]
            if sample.rollout_logp is not None:
                rollout = torch.tensor(sample.rollout_logp)
            wanted.append(Wanted(scale, sample.advantage if policy else 1.0, old, rollout))
        return wanted

    def gradient(
        self, batch: MicroBatch, pixels: Tensor | None, wanted: list[Wanted], objective: dict[str, Any], clock: Clock
    ) -> dict[str, float]:
        """Adds one micro-batch's share to the gradients; returns its statistics."""
        settings = LossSettings.of(objective, batch.temperature)
        reference = self.look(batch, pixels, reference=True)[0] if settings.kl_beta else None
        offsets, targets = batch.offsets.to(self.device), batch.targets.to(self.device)
        filler = batch.indices == [-1]
        if filler:
            nothing = torch.full(targets.shape, torch.nan)
            targets, wanted = torch.full_like(targets, -1), [Wanted(0.0, 0.0, nothing, nothing)]
        scale, advantage, old, rollout = zip(*(wanted[index] for index in batch.indices))
        shares = (spread(scale, offsets), spread(advantage, offsets))
        logps = (torch.cat(old).to(self.device), torch.cat(rollout).to(self.device), reference)

        def run(head: PolicyHead, hidden: Tensor) -> Outcome:
            clock.lap("forward")
            outcome = head(hidden, targets, offsets, *shares, *logps, settings)
            clock.lap("head")
            return outcome

        outcome: Outcome = self.policy.train()(batch, run, pixels)
        outcome.loss.backward()
        clock.lap("backward")
        return merge([]) if filler else outcome.statistics

    def prefer(self, encoded: list[Encoded], request: dict[str, Any]) -> Preference:
        """The loss over episodes, and by how much each of their tokens' log-probabilities should move."""
        episodes = [each.sample.episode for each in encoded]
        count = max(episodes, default=-1) + 1
        policy, reference = self.sums(encoded, episodes, count)
        if request["kind"] == "dpo":
            return dpo(self.kernels, policy, reference, request["pairs"], self.objective["dpo"]["beta"])
        settings = self.objective["kto"]
        moved, owners = mismatched(encoded)
        point = kto_reference_point(*self.sums(moved, owners, count)) if moved else 0.0
        weights = (settings["desirable_weight"], settings["undesirable_weight"])
        return kto(self.kernels, policy, reference, request["labels"], settings["beta"], point, *weights)

    def sums(self, encoded: list[Encoded], episodes: list[int], count: int) -> list[Tensor]:
        """Each episode's summed log-probability [count] under the policy and its reference, float64 on the CPU."""
        sums = []
        for reference in (False, True):
            logp = [logp for logp, _ in self.measure(encoded, reference)]
            offsets = torch.tensor([0, *accumulate(len(each) for each in logp)])
            sums.append(episode_sums(torch.cat(logp), offsets, episodes, count))
        return sums

    def memory(self) -> int:
        """The most bytes that any rank used: of its GPU since the last step began, or of its process."""
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return max(self.gather(torch.cuda.max_memory_allocated() if self.device.type == "cuda" else own))


def mismatched(encoded: list[Encoded]) -> tuple[list[Encoded], list[int]]:
    """
    Prompts with replies that belong to other ones, for KTO's estimate of the KL divergence, and the episode of each.
    TRL gives example i of a batch the completion of example i - 1, the first that of the last; here episodes take the
    place of examples: each gets all replies of the one before, step by step, a reply beyond its last step under that
    step's prompt. Nothing where there is but one episode: the reference point is 0 then.
    """
    members: dict[int, list[Encoded]] = {}
    for each in encoded:
        members.setdefault(each.sample.episode, []).append(each)
    order = sorted(episode for episode in members if episode >= 0)
    moved, owners = [], []
    for place, episode in enumerate(order if len(order) > 1 else []):
        prompts = members[episode]
        for step, reply in enumerate(members[order[place - 1]]):
            moved.append(with_reply(prompts[min(step, len(prompts) - 1)], reply))
            owners.append(episode)
    return moved, owners


def with_reply(prompt: Encoded, other: Encoded) -> Encoded:
    """The prompt of one example with the reply of another."""
    reply, start = other.input_ids[other.reply_start :], prompt.reply_start
    positions = prompt.position_ids[:, start, None] + torch.arange(len(reply))
    return replace(
        prompt,
        input_ids=torch.cat([prompt.input_ids[:start], reply]),
        position_ids=torch.cat([prompt.position_ids[:, :start], positions], dim=1),
    )
