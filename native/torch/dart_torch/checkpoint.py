"""Versions on disk: weights that vLLM and `from_pretrained` read, and the state that training goes on from."""

import json
import shutil
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.tensor import DTensor

from .model import Policy
from .optimizer import Optimizer

SHARD_BYTES = 5_000_000_000
# Of the checkpoint's other files those that describe model, tokenizer and processor; not a trainer's own.
COPIED = (".json", ".jinja", ".txt", ".model")
LEFT = (".index.json", "manifest.json", "state.json", "trainer_state.json", "adapter_config.json")


def save(
    folder: Path, checkpoint: Path, policy: Policy, optimizer: Optimizer, state: bool, group: dist.ProcessGroup
) -> list[str]:
    """Writes a version into an empty folder, all ranks together; returns the files' names, relative to it."""
    policy.reshard()
    if policy.settings.lora is None:
        save_weights(folder, checkpoint, policy)
    else:
        save_adapters(folder, checkpoint, policy)
    if state:
        dcp.save({**optimizer.state(), **random_state()}, checkpoint_id=folder / "state", process_group=group)
    dist.barrier(group)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def restore(folder: Path, policy: Policy, optimizer: Optimizer, group: dist.ProcessGroup) -> None:
    """
    Weights, moments and random numbers as they were when `folder` was saved, on any number of ranks; with as many ranks
    the run goes on as if it had not stopped. Raises ValueError where the state is missing or of another model.
    """
    source = folder / "state"
    if not (source / ".metadata").exists():
        raise ValueError(f"{folder} has no state to go on from: it was saved for serving only")
    found = dcp.FileSystemReader(source).read_metadata().state_dict_metadata
    wanted = optimizer.state()
    for name, value in wanted.items():
        if name not in found or found[name].size != value.shape:
            shape = list(value.shape)
            raise ValueError(f"{source} has no {name} of shape {shape}: it was saved with other model settings")
    random = {name: value for name, value in random_state().items() if name in found}
    dcp.load({**wanted, **random}, checkpoint_id=source, process_group=group)
    for name, value in random.items():
        (torch.cuda if name.startswith("random.cuda") else torch).set_rng_state(value)
    policy.reshard()


def random_state() -> dict[str, Tensor]:
    """This rank's states of the random number generators (LoRA's dropout draws from them)."""
    named = {f"random.cpu.{dist.get_rank()}": torch.get_rng_state()}
    if torch.cuda.is_available():
        named[f"random.cuda.{dist.get_rank()}"] = torch.cuda.get_rng_state()
    return named


def save_weights(folder: Path, checkpoint: Path, policy: Policy) -> None:
    """
    The whole model under the names and in the types that its checkpoint has, and that checkpoint's other files. Tensors
    are made whole one after another; rank 0 alone keeps them, until a file of five gigabytes is full.
    """
    sizes = {key: getattr(*home).numel() * policy.types[key].itemsize for key, home in policy.homes.items()}
    files = shards(sizes, SHARD_BYTES)
    names = [f"model-{n:05}-of-{len(files):05}.safetensors" for n in range(1, len(files) + 1)]
    names = names if len(files) > 1 else ["model.safetensors"]
    for name, keys in zip(names, files):
        write(folder / name, {key: (getattr(*policy.homes[key]), policy.types[key]) for key in keys}, policy.device)
    if dist.get_rank() > 0:
        return
    if len(files) > 1:
        places = {key: name for name, keys in zip(names, files) for key in keys}
        index = {"metadata": {"total_size": sum(sizes.values())}, "weight_map": places}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1))
    for path in checkpoint.iterdir():
        if path.suffix in COPIED and not path.name.endswith(LEFT):
            shutil.copyfile(path, folder / path.name)
    for name in ("preprocessor_config.json", "processor_config.json"):
        limit_pixels(folder / name, policy.settings.pixels)


def limit_pixels(path: Path, pixels: dict[str, int]) -> None:
    """Writes the limits that training kept to where a server will look for them, under their old and new names."""
    if not path.exists() or not pixels:
        return
    config = json.loads(path.read_text())
    image = config if path.name == "preprocessor_config.json" else config.setdefault("image_processor", {})
    if "size" in image:
        image["size"] = {**image["size"], **pixels}
    old = {"shortest_edge": "min_pixels", "longest_edge": "max_pixels"}
    image.update({old[name]: value for name, value in pixels.items()})
    path.write_text(json.dumps(config, indent=2))


def shards(sizes: dict[str, int], limit: int) -> list[list[str]]:
    """Shares tensors of so many bytes out over files, in order; a file passes the limit with a single tensor only."""
    files: list[list[str]] = [[]]
    for key, size in sizes.items():
        if files[-1] and sum(sizes[other] for other in files[-1]) + size > limit:
            files.append([])
        files[-1].append(key)
    return files


def save_adapters(folder: Path, checkpoint: Path, policy: Policy) -> None:
    """The adapters alone, as PEFT and vLLM read them, in the type that is computed in."""
    weights = {
        name.removeprefix("model.").replace(".default.", "."): (weight, policy.settings.compute)
        for name, weight in policy.trainable().items()
    }
    write(folder / "adapter_model.safetensors", weights, policy.device)
    if dist.get_rank() == 0:
        config = policy.model.peft_config["default"]
        config.base_model_name_or_path, config.inference_mode = str(checkpoint), True
        config.save_pretrained(folder)


@torch.no_grad()
def write(path: Path, weights: dict[str, tuple[Tensor, torch.dtype]], device: torch.device) -> None:
    """Gathers sharded tensors one by one, in the given types, and writes them in one file of rank 0's."""
    kept: dict[str, Tensor] = {}
    for name, (weight, dtype) in weights.items():
        # Shards of a CPU-offloaded model travel by way of the GPU.
        whole = weight.detach().to(dtype).to(device)
        whole = whole.full_tensor() if isinstance(whole, DTensor) else whole
        if dist.get_rank() == 0:
            kept[name] = whole.to("cpu", copy=True)
    if dist.get_rank() == 0:
        save_file(kept, path, metadata={"format": "pt"})
