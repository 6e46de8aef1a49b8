"""A checkpoint as a policy over the ranks: read by shards, frozen or adapted, under FSDP2, the head at its root."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from safetensors import safe_open
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from transformers import AutoConfig, AutoModelForImageTextToText, PreTrainedModel
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightConverter, rename_source_key

from .batches import MicroBatch
from .settings import ModelSettings


class Policy(nn.Module):
    """
    Backbone and head behind one forward pass, so that the head's weight, tied or sharded, is whole while it is used.

    No rank ever holds the whole model: it is made without memory, each layer gets memory, is sharded and gives the rest
    back before the next one does, and then each rank reads its own rows of each tensor from the files. What is trained
    is kept in float32, LoRA's adapters too: at learning rates around 1e-6 an update is below half a unit in the last
    place of most bfloat16 weights and would be lost. What is frozen is kept in the type that is computed in.

    `homes`: name in the checkpoint to (module, attribute): wrappers replace a parameter, never its module. `types`:
    name in the checkpoint to its type there.
    """

    def __init__(
        self,
        checkpoint: Path,
        settings: ModelSettings,
        mesh: DeviceMesh,
        device: torch.device,
        make_head: Callable[[nn.Module], nn.Module],
        seed: int,
        trained: bool = True,
    ):
        super().__init__()
        self.settings, self.device = settings, device
        files = weight_files(checkpoint)
        config = AutoConfig.from_pretrained(checkpoint, local_files_only=True)
        if getattr(config.get_text_config(), "final_logit_softcapping", None):
            raise ValueError(f"{checkpoint}: capped logits cannot be trained")
        with torch.device("meta"):
            model = AutoModelForImageTextToText.from_config(
                config, dtype=torch.float32, attn_implementation=settings.attention
            )
        self.homes = find_homes(model, files)
        names = ("visual", "vision_tower", "vision_model")
        tower = next((name for name in names if hasattr(model.base_model, name)), None)
        head = model.get_output_embeddings()
        self.vocabulary = head.weight.shape[0]
        adapted = trained and settings.lora is not None
        model.requires_grad_(trained and not adapted)
        if settings.freeze_vision and tower:
            getattr(model.base_model, tower).requires_grad_(False)
        self.backbone = (model.base_model,)  # no child of its own: its weights have one name, that below `model`
        fill_buffers(model, device)
        if trained and settings.gradient_checkpointing:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        layers = [module for module in model.modules() if type(module).__name__ in set(model._no_split_modules or ())]
        self.model: Any = add_adapters(model, settings, tower) if adapted else model
        self.head = make_head(head)
        self._shard(layers, mesh)
        self.types = load(self.homes, files, mesh)
        if adapted:
            self._start_adapters(seed, mesh)
        elif trained and settings.compute.itemsize < 4 and torch.float32 in self.types.values() and not dist.get_rank():
            twice = "is in float32, and so will be each version, twice the size of one in bfloat16: convert it first"
            print(f"warning: {checkpoint} {twice}", file=sys.stderr, flush=True)

    def _shard(self, layers: list[nn.Module], mesh: DeviceMesh) -> None:
        """Gives memory to each layer and then to the rest (embeddings, head), and shards it over the mesh."""
        settings = self.settings
        offload = settings.offload and self.device.type == "cuda"
        more: dict[str, Any] = {"offload_policy": CPUOffloadPolicy()} if offload else {}
        # Inputs are not cast: rotations, scales and advantages stay in float32.
        policy = MixedPrecisionPolicy(settings.compute, torch.float32, cast_forward_inputs=False)
        home = torch.device("cpu") if offload else self.device
        for module in [*layers, self]:
            materialize(module, home, settings.compute)
            whole = fully_shard(module, mesh=mesh, mp_policy=policy, **more)
            # Gradients are summed over the ranks: a token's scale is its share of the whole update already.
            whole.set_gradient_divide_factor(1.0)
            whole.set_force_sum_reduction_for_comms(True)

    def _start_adapters(self, seed: int, mesh: DeviceMesh) -> None:
        """LoRA's A as a linear layer is initialised, its B zero; the same numbers whatever the number of ranks."""
        for index, (name, weight) in enumerate(self.trainable().items()):
            whole = torch.zeros(weight.shape)
            if "lora_A" in name:
                bound = 1 / math.sqrt(weight.shape[1])
                whole.uniform_(-bound, bound, generator=torch.Generator().manual_seed(seed * 100_003 + index))
            copy_rows(weight, lambda rows, whole=whole: whole[rows], mesh)

    def trainable(self) -> dict[str, nn.Parameter]:
        """Name to parameter (its shard) of what is trained, in a fixed order."""
        return {name: weight for name, weight in self.named_parameters() if weight.requires_grad}

    def forward(self, batch: MicroBatch, run: Callable[[nn.Module, Tensor], Any], pixels: Tensor | None = None) -> Any:
        """
        Hidden states [N, H] of the batch's rows, handed with the head to `run`. What that returns is returned: tuples
        and dicts of tensors, so that FSDP finds those that a gradient comes back through. `pixels` [P, D] are the
        batch's, where they were made before.
        """
        inputs = {
            "input_ids": batch.input_ids,
            "attention_mask": batch.attention_mask,
            "position_ids": batch.position_ids,
            "pixel_values": batch.pixel_values if pixels is None else pixels,
            "image_grid_thw": batch.image_grid_thw,
        }
        inputs = {name: value.to(self.device) for name, value in inputs.items() if value is not None}
        hidden = self.backbone[0](**inputs, use_cache=False).last_hidden_state
        return run(self.head, hidden.flatten(0, 1).index_select(0, batch.rows.to(self.device)))


def weight_files(checkpoint: Path) -> dict[str, Path]:
    """Tensor name to safetensors file. Raises FileNotFoundError that says what a folder lacks to be a checkpoint."""
    if not checkpoint.is_dir():
        raise FileNotFoundError(f"{checkpoint} is no folder: a checkpoint is read from disk only, download it first")
    if not (checkpoint / "config.json").exists():
        raise FileNotFoundError(f"{checkpoint} has no config.json")
    index, single = checkpoint / "model.safetensors.index.json", checkpoint / "model.safetensors"
    if index.exists():
        found = {key: checkpoint / name for key, name in json.loads(index.read_text())["weight_map"].items()}
        if missing := sorted({path.name for path in found.values() if not path.exists()}):
            raise FileNotFoundError(f"{checkpoint} lacks {', '.join(missing)}, which its index names")
        return found
    if not single.exists():
        raise FileNotFoundError(f"{checkpoint} has neither model.safetensors nor model.safetensors.index.json")
    with safe_open(single, "pt") as opened:
        return dict.fromkeys(opened.keys(), single)


def find_homes(model: PreTrainedModel, files: dict[str, Path]) -> dict[str, tuple[nn.Module, str]]:
    """
    Name in the checkpoint to the weight's module and attribute. Checkpoints keep the names that their release had;
    transformers says how they are called today, and saving writes them as they were.
    Raises ValueError where a weight is on one side only, or would have to be computed from several.
    """
    transforms = get_model_conversion_mapping(model)
    converters = [item for item in transforms if isinstance(item, WeightConverter)]
    renames = [item for item in transforms if not isinstance(item, WeightConverter)]
    known = dict(model.named_parameters(remove_duplicate=False))
    homes, unknown = {}, []
    for key in files:
        name, converted = rename_source_key(key, renames, converters, model.base_model_prefix, known)
        if name not in known or converted is not None:
            unknown.append(key)
            continue
        module, _, attribute = name.rpartition(".")
        homes[key] = (model.get_submodule(module), attribute)
    have = {id(getattr(*home)) for home in homes.values()}
    missing = [name for name, weight in known.items() if id(weight) not in have]
    if missing or unknown:
        parts = f"of its weights {unknown[:3]} have no place there, and the model's {missing[:3]} are not in it"
        raise ValueError(f"the checkpoint does not fit {type(model).__name__}: {parts}")
    return homes


def add_adapters(model: PreTrainedModel, settings: ModelSettings, tower: str | None) -> nn.Module:
    """LoRA on the targets; "all-linear" is each linear layer but the head, without a frozen vision tower's."""
    from peft import LoraConfig, get_peft_model

    lora = settings.lora
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        exclude_modules=rf".*\b{tower}\b.*" if tower and settings.freeze_vision else None,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config, low_cpu_mem_usage=True)


def fill_buffers(model: PreTrainedModel, device: torch.device) -> None:
    """Gives the model's buffers (rotary frequencies) memory and their values, while the weights have none yet."""
    for module in model.modules():
        for name, value in module._buffers.items():
            if value is not None:
                module._buffers[name] = torch.empty_like(value, device=device)
        module._is_hf_initialized = False  # type: ignore[assignment]
    model.initialize_weights()


def materialize(module: nn.Module, device: torch.device, frozen: torch.dtype) -> None:
    """Memory for each weight below that has none: float32 for what is trained, else `frozen`. Ties stay ties."""
    made: dict[int, nn.Parameter] = {}
    for part in module.modules():
        for name, weight in part._parameters.items():
            if weight is not None and weight.is_meta and not isinstance(weight, DTensor):
                dtype = torch.float32 if weight.requires_grad else frozen
                empty = torch.empty(weight.shape, dtype=dtype, device=device)
                made.setdefault(id(weight), nn.Parameter(empty, requires_grad=weight.requires_grad))
                part._parameters[name] = made[id(weight)]


def load(
    homes: dict[str, tuple[nn.Module, str]], files: dict[str, Path], mesh: DeviceMesh
) -> dict[str, torch.dtype]:
    """Reads this rank's rows of every weight from the files; returns the types that they have there."""
    types: dict[str, torch.dtype] = {}
    for path in sorted(set(files.values())):
        with safe_open(path, "pt") as opened:
            for key in (key for key in homes if files[key] == path):
                stored, weight = opened.get_slice(key), getattr(*homes[key])
                if list(weight.shape) != stored.get_shape():
                    wanted = f"the configuration wants {list(weight.shape)}"
                    raise ValueError(f"{path}: {key} has the shape {stored.get_shape()}, {wanted}")
                types[key] = stored[:1].dtype
                copy_rows(weight, lambda rows, stored=stored: stored[rows], mesh)
    return types


@torch.no_grad()
def copy_rows(weight: Tensor, read: Callable[[slice], Tensor], mesh: DeviceMesh) -> None:
    """Fills this rank's shard of a weight with `read(rows)` of the whole one, or all of what is not sharded."""
    if not isinstance(weight, DTensor):
        weight.copy_(read(slice(None)))
        return
    size = -(-weight.shape[0] // mesh.size())
    first = min(mesh.get_local_rank() * size, weight.shape[0])
    last = min(first + size, weight.shape[0])
    if first < last:
        weight.to_local().copy_(read(slice(first, last)))
