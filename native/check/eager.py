"""The policy loss and the optimiser step as a trainer writes them in eager PyTorch: what the kernels are measured against."""


def loss(torch, logits, target, old_logp, advantage, scale, entropy="none", coefficient=0.01):
    """
    log_softmax, gather and clipped surrogate of [N, V] logits, half precision upcast to f32: a scalar. `entropy`: "none",
    "reported" (no gradient), or "bonus" (with gradient).
    """
    every = torch.log_softmax(logits.float(), -1)
    logp = every.gather(-1, target[:, None]).squeeze(-1)
    ratio = torch.exp(logp - old_logp)
    losses = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.28) * advantage)
    if entropy == "reported":
        with torch.no_grad():
            -(every.exp() * every).sum(-1)
    if entropy == "bonus":
        losses = losses + coefficient * (every.exp() * every).sum(-1)
    return (losses * scale).sum()


def policy_loss(torch, logits, *given):
    """The loss and its backward pass; the gradient is in logits.grad."""
    loss(torch, logits, *given).backward()


def adamw(torch, parameter, fused):
    """An optimiser of one parameter, and its step with clipping of the gradient norm."""
    optimiser = torch.optim.AdamW(
        [parameter], lr=1e-6, betas=(0.9, 0.95), weight_decay=0.01, **({"fused": True} if fused else {})
    )

    def step():
        torch.nn.utils.clip_grad_norm_([parameter], 1.0)
        optimiser.step()

    return step
