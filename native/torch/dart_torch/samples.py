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
        self.where, self.message = where, message


@dataclass(frozen=True)
class Sample:
    """A prompt, the reply to it, and what the update wants of it."""

    id: str
    where: str
    messages: list[Message]
    prompt_ids: list[int] | None
    reply: str
    finish: str
    reply_ids: list[int] | None
    rollout_logp: list[float] | None  # the sampler's log-probability of each of reply_ids, NaN where it gave none
    advantage: float
    temperature: float
    episode: int  # -1 except for objectives over whole episodes


def read_samples(path: str) -> list[Sample]:
    """The examples of a file, in its order. Raises SampleError for one that breaks the format."""
    samples = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                given = json.loads(line)
                values = {field.name: given[field.name] for field in fields(Sample)}
            except (KeyError, TypeError, ValueError) as error:
                what = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
                raise SampleError(f"{path}:{number}", f"not an example: {what}") from error
            if values["rollout_logp"] is not None:
                values["rollout_logp"] = [math.nan if logp is None else logp for logp in values["rollout_logp"]]
                scored, sampled = len(values["rollout_logp"]), len(values["reply_ids"] or [])
                if scored != sampled:
                    raise SampleError(values["where"], f"rollout_logp has {scored} entries for {sampled} reply_ids")
            samples.append(Sample(**values))
    return samples
