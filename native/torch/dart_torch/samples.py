"""The sample file: one example a line, as the driver writes it (lib/training/torch)."""

import json
import math
from dataclasses import dataclass, fields
from typing import Any

# {"role", "content"}; the content is a text, or a list of {"type": "text", "text"} and {"type": "image", "sha256"}.
Message = dict[str, Any]


class SampleError(Exception):
    """An example that cannot be learned from, while others can: `where` it came from, and why."""

    def __init__(self, where: str, message: str):
        super().__init__(f"{where}: {message}")
        self.where = where
        self.message = message


@dataclass(frozen=True)
class Sample:
    """
    A prompt, the reply to it, and what the update wants of it. `rollout_logp` is the sampler's log-probability of each
    of `reply_ids`, NaN where it gave none; `episode` is -1 except for objectives over whole episodes.
    """

    id: str
    where: str
    messages: list[Message]
    prompt_ids: list[int] | None
    reply: str
    finish: str
    reply_ids: list[int] | None
    rollout_logp: list[float] | None
    advantage: float
    temperature: float
    episode: int


def read_samples(path: str) -> list[Sample]:
    """The examples of a file, in its order. Raises SampleError for one that breaks the format."""
    samples = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                samples.append(_sample(json.loads(line)))
            except (KeyError, TypeError, ValueError) as error:
                what = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
                raise SampleError(f"{path}:{number}", f"not an example: {what}") from error
    return samples


def _sample(line: dict[str, Any]) -> Sample:
    values = {field.name: line[field.name] for field in fields(Sample)}
    for name in ("prompt_ids", "reply_ids"):
        if not all(type(token) is int for token in values[name] or []):
            raise TypeError(f"{name} holds something that is no whole number")
    if values["rollout_logp"] is not None:
        values["rollout_logp"] = [math.nan if value is None else float(value) for value in values["rollout_logp"]]
        scored, sampled = len(values["rollout_logp"]), len(values["reply_ids"] or [])
        if scored != sampled:
            raise ValueError(f"rollout_logp has {scored} entries for {sampled} reply_ids")
    if not 0 < values["temperature"] < math.inf:
        raise ValueError(f"temperature is {values['temperature']}, not above 0")
    if not math.isfinite(values["advantage"]):
        raise ValueError(f"advantage is {values['advantage']}")
    return Sample(**values)
