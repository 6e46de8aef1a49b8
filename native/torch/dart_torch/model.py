"""A checkpoint as a policy over the ranks: read by shards, frozen or adapted, under FSDP2, the head at its root."""

import contextlib
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
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

Home = tuple[nn.Module, str]  # where a weight lives: wrappers replace the parameter, never the module


class Policy(nn.Module):
    """
    Backbone and head behind one forward pass, so that the head's weight, tied or sharded, is whole while it is used.

    No rank ever holds the whole model: it is made without memory, each layer gets memory, is sharded and gives the rest
    back before the next one does, and then each rank reads its own rows of each tensor from the files. What is trained
    is kept in float32, LoRA's adapters too: at learning rates around 1e-6 an update is below half a unit in the last
    place of most bfloat16 weights and would be lost. What is frozen is kept in the type that is computed in.
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
        self.files = weight_files(checkpoint)
        config = AutoConfig.from_pretrained(checkpoint, local_files_only=True)
        with torch.device("meta"):
            model = AutoModelForImageTextToText.from_config(
                config, dtype=torch.float32, attn_implementation=settings.attention
            )
        self.homes = find_homes(model, self.files)
        vision, head = find_vision(model), model.get_output_embeddings()
        if getattr(config.get_text_config(), "final_logit_softcapping", None):
            raise ValueError(f"{checkpoint}: capped logits cannot be trained")
        self.vocabulary = head.weight.shape[0]
        model.requires_grad_(trained and settings.lora is None)
        if settings.freeze_vision and vision is not None:
            vision.requires_grad_(False)
        self.backbone = (model.base_model,)  # no child of its own: its weights have one name, that below `model`
        fill_buffers(model, device)
        if trained and settings.gradient_checkpointing:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        layers = [module for module in model.modules() if type(module).__name__ in set(model._no_split_modules or ())]
        self.model: nn.Module = add_adapters(model, settings, vision) if trained and settings.lora else model
        self.head = make_head(head)
        self._shard(layers, mesh)
        load(self.homes, self.files, mesh)
        self._start_adapters(seed, mesh)

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
            if self.settings.lora is None:
                return
            whole = torch.zeros(weight.shape)
            if "lora_A" in name:
                bound = 1 / math.sqrt(weight.shape[1])
                whole.uniform_(-bound, bound, generator=torch.Generator().manual_seed(seed * 100_003 + index))
            copy_rows(weight, lambda rows, whole=whole: whole[rows], mesh)

    def trainable(self) -> dict[str, nn.Parameter]:
        """Name to parameter (its shard) of what is trained, in a fixed order."""
        return {name: weight for name, weight in self.named_parameters() if weight.requires_grad}

    def count(self) -> tuple[int, int]:
        """Number of weights in the model and of those that are trained, adapters included."""
        sizes = [(weight.numel(), weight.requires_grad) for weight in self.parameters()]
        return sum(size for size, _ in sizes), sum(size for size, trained in sizes if trained)

    def forget(self) -> None:
        """Drops what was gathered at the root: without a backward pass it stays, and new weights would not be seen."""
        self.reshard()  # type: ignore[operator]

    def without_adapters(self) -> contextlib.AbstractContextManager[None]:
        """While it lasts the model is the one that adapters were added to."""
        model: Any = self.model
        return model.disable_adapter() if self.settings.lora else contextlib.nullcontext()

    def forward(self, batch: MicroBatch, run: Callable[[nn.Module, Tensor], Any], pixels: Tensor | None = None) -> Any:
        """
        Hidden states [N, H] of the batch's rows, handed with the head to `run`. What that returns is returned: tuples
        and dicts of tensors, so that FSDP finds those that a gradient comes back through. `pixels` [P, D] are the
        batch's, where they were made before.
        """
        more: dict[str, Tensor] = {}
        pixels = batch.pixel_values if pixels is None else pixels
        if pixels is not None and batch.image_grid_thw is not None:
            more = {"pixel_values": pixels.to(self.device), "image_grid_thw": batch.image_grid_thw.to(self.device)}
        hidden = self.backbone[0](
            input_ids=batch.input_ids.to(self.device),
            attention_mask=None if batch.attention_mask is None else batch.attention_mask.to(self.device),
            position_ids=batch.position_ids.to(self.device),
            use_cache=False,
            **more,
        ).last_hidden_state
        return run(self.head, hidden.flatten(0, 1).index_select(0, batch.rows.to(self.device)))


def weight_files(checkpoint: Path) -> dict[str, Path]:
    """Tensor name to safetensors file. Raises FileNotFoundError that says what a folder lacks to be a checkpoint."""
    if not checkpoint.is_dir():
        raise FileNotFoundError(f"{checkpoint} is no folder: a checkpoint is read from disk only, download it first")
    if not (checkpoint / "config.json").exists():
        adapters = (checkpoint / "adapter_config.json").exists()
        hint = " (it holds LoRA adapters: give the model they belong to)" * adapters
        raise FileNotFoundError(f"{checkpoint} has no config.json{hint}")
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


def check_processor(checkpoint: Path) -> None:
    """Raises FileNotFoundError where a folder has no image processor or no tokenizer, in plain words."""
    for what, names in (
        ("image processor", ("preprocessor_config.json", "processor_config.json")),
        ("tokenizer", ("tokenizer.json", "vocab.json", "tokenizer.model")),
    ):
        if checkpoint.is_dir() and not any((checkpoint / name).exists() for name in names):
            raise FileNotFoundError(f"{checkpoint} has no {what}: none of {', '.join(names)}")


def find_homes(model: PreTrainedModel, files: dict[str, Path]) -> dict[str, Home]:
    """
    Name in the checkpoint to the weight's place in the model. Checkpoints keep the names that their release had;
    transformers says how they are called today, and saving writes them as they were.
    Raises ValueError where a weight is on one side only, or would have to be computed from several.
    """
    transforms = get_model_conversion_mapping(model)
    converters = [item for item in transforms if isinstance(item, WeightConverter)]
    renames = [item for item in transforms if not isinstance(item, WeightConverter)]
    known = {name: (module, attribute) for name, module, attribute, _ in persistent(model)}
    homes, unknown = {}, []
    for key in files:
        name, converted = rename_source_key(key, renames, converters, model.base_model_prefix, known)
        if converted is not None:
            raise ValueError(f"{key} has to be merged with others on loading, which is not supported: {type(model)}")
        if name in known:
            homes[key] = known[name]
        else:
            unknown.append(key)
    have = {id(getattr(*home)) for home in homes.values()}
    missing = [name for name, _, _, value in persistent(model) if id(value) not in have]
    if missing or unknown:
        parts = [f"lacks {missing[0]} and {len(missing) - 1} more"] * bool(missing)
        parts += [f"has {unknown[0]} and {len(unknown) - 1} more that the model has not"] * bool(unknown)
        raise ValueError(f"the checkpoint does not fit {type(model).__name__}: it {'; it '.join(parts)}")
    return homes


def persistent(model: nn.Module) -> Iterator[tuple[str, nn.Module, str, Tensor]]:
    """Each parameter and saved buffer by each of its names: (name, module, attribute, tensor)."""
    for prefix, module in model.named_modules():
        kept = [item for item in module._buffers.items() if item[0] not in module._non_persistent_buffers_set]
        for attribute, value in [*module._parameters.items(), *kept]:
            if value is not None:
                yield f"{prefix}.{attribute}".lstrip("."), module, attribute, value


def find_vision(model: PreTrainedModel) -> nn.Module | None:
    """The vision tower, projector included where it is part of it."""
    names = ("visual", "vision_tower", "vision_model")
    return next((getattr(model.base_model, name) for name in names if hasattr(model.base_model, name)), None)


def add_adapters(model: PreTrainedModel, settings: ModelSettings, vision: nn.Module | None) -> nn.Module:
    """LoRA on the targets; "all-linear" is each linear layer but the head, without a frozen vision tower's."""
    from peft import LoraConfig, get_peft_model

    lora = settings.lora
    assert lora is not None
    tower = {id(module) for module in vision.modules()} if vision is not None and settings.freeze_vision else set()
    inside = [name for name, module in model.named_modules() if id(module) in tower]
    targets = lora.targets
    if targets == "all-linear":
        linear = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.Linear)]
        skipped = {id(model.get_output_embeddings()), *tower}
        # The last part of a name is enough for PEFT, but where it is a number: there the part before it belongs to it.
        names = [name.split(".") for name, module in linear if id(module) not in skipped]
        targets = sorted({".".join(name[-2:] if name[-1].isdigit() else name[-1:]) for name in names})
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=targets,
        exclude_modules=rf".*\b{inside[0].rpartition('.')[2]}\b.*" if inside else None,
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


def load(homes: dict[str, Home], files: dict[str, Path], mesh: DeviceMesh) -> None:
    """Reads this rank's rows of every weight from the files."""
    for path in sorted(set(files.values())):
        with safe_open(path, "pt") as opened:
            for key in (key for key in homes if files[key] == path):
                stored, weight = opened.get_slice(key), getattr(*homes[key])
                if list(weight.shape) != stored.get_shape():
                    wanted = f"the configuration wants {list(weight.shape)}"
                    raise ValueError(f"{path}: {key} has the shape {stored.get_shape()}, {wanted}")
                copy_rows(weight, lambda rows, stored=stored: stored[rows], mesh)


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
