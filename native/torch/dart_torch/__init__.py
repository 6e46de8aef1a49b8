"""Trains a Hugging Face vision-language checkpoint with torchrun; lib/training/torch drives it."""

import torch

try:
    import torchvision as _torchvision
except RuntimeError as error:
    # torchvision's wheel for CUDA beside a PyTorch for CPUs: its library does not load, and the import ends at the
    # first operator that it would have brought. Only its resizing is used, which is plain PyTorch.
    if "operator torchvision::" not in str(error):
        raise
    for _name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{_name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision as _torchvision  # noqa: F401
