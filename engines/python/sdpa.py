#!/usr/bin/env python3
"""PyTorch's scaled_dot_product_attention as an engine of ``./steelyard attention``: exact attention on random inputs.

It speaks the worker protocol (docs/writing-an-engine.md). A ``load`` names the problem, a ``kernel`` call a length; where
its shape holds ``prove``, rows of every head are held to attention in float64.
"""

import json
import math
import os
import sys
import time
from typing import Any

ROWS = 64
BOUND = {"f32": 1e-5, "f16": 1e-5 + 2**-11, "bf16": 1e-5 + 2**-8}
LARGEST_ERROR_OF_WEIGHTS = {"f32": 1, "f16": 4, "bf16": 4}  # PyTorch rounds weights to 16 bits, too

Request = dict[str, Any]


class Unsupported(Exception):
    """A call that there is not."""


def length(name: str) -> int:
    """Tokens of a name such as 16K."""
    units = {"K": 1 << 10, "M": 1 << 20}
    return int(name[:-1]) * units[name[-1]] if name[-1] in units else int(name)


class Sdpa:
    """The engine in this process."""

    def __init__(self) -> None:
        try:
            import torch
        except ImportError as e:
            raise RuntimeError("the package torch is missing: pip install -r engines/python/requirements.txt") from e
        self.torch = torch
        self.options: dict[str, str] = {}
        self.inputs: dict[str, Any] = {}

    def hello(self, q: Request) -> Request:
        build = f"torch {self.torch.__version__}"
        return dict(engine="sdpa", version=self.torch.__version__, backend="cpu", libraries=[], precisions=[],
            capabilities=["kernel"], hosted=False, build=build)

    def load(self, q: Request) -> Request:
        start = time.perf_counter_ns()
        self.torch.set_num_threads(q["threads"])
        self.options, self.inputs = q["options"], {}
        return dict(phases={"load": time.perf_counter_ns() - start}, bytes={}, libraries=[],
            settings=dict(weights="", kv="", activations="", threads=q["threads"], affinity="", batch=0, context=0,
                flash_attention=True, vocabulary=0, layers=0, parameters=0))

    def kernel(self, q: Request) -> Request:
        torch, name, shape = self.torch, q["name"], q["shape"]
        if name not in self.inputs:
            self.inputs = {name: self._random(length(name))}
        query, key, value = self.inputs[name]
        operations = shape.get("operations") or int(self.options["operations." + name])
        causal = self.options["causal"] == "true"
        grouped = query.shape[1] != key.shape[1]
        with torch.inference_mode():
            start = time.perf_counter_ns()
            for _ in range(operations):
                out = torch.nn.functional.scaled_dot_product_attention(
                    query, key, value, is_causal=causal, enable_gqa=grouped)
            nanos = time.perf_counter_ns() - start
            error = self._error(query, key, value, out, causal, ROWS if "prove" in shape else 1)
        return dict(nanos=nanos, error=error)

    def _random(self, tokens: int) -> list[Any]:
        types = dict(f32="float32", f16="float16", bf16="bfloat16")
        dtype = getattr(self.torch, types[self.options["dtype"]])
        batch = int(self.options["batch"]) or max(1, min(8, 16384 // tokens))
        heads, keys, width = (int(self.options[name]) for name in ("heads", "kv-heads", "dim"))
        generator = self.torch.Generator().manual_seed(1)
        return [self.torch.randn(batch, h, tokens, width, generator=generator).to(dtype) for h in (heads, keys, keys)]

    def _error(self, query: Any, key: Any, value: Any, out: Any, causal: bool, rows: int) -> float:
        """0 where the rows differ from the definition by rounding alone, else by how much."""
        torch, tokens = self.torch, query.shape[2]
        chosen = sorted({0, tokens - 1, *(int(i * 0.618034 * tokens) % tokens for i in range(rows - 2))})
        group, difference, expected = query.shape[1] // key.shape[1], 0.0, 0.0
        for b in range(query.shape[0]):
            for head in range(query.shape[1]):
                k, v = (x[b, head // group].double() for x in (key, value))
                scores = query[b, head, chosen].double() @ k.T / math.sqrt(query.shape[3])
                if causal:
                    hidden = torch.arange(tokens)[None, :] > torch.tensor(chosen)[:, None]
                    scores = scores.masked_fill(hidden, -math.inf)
                right = torch.softmax(scores, -1) @ v
                difference += float(((out[b, head, chosen].double() - right) ** 2).sum())
                expected += float((right**2).sum())
        error, dtype = math.sqrt(difference / expected), self.options["dtype"]
        return 0 if error <= BOUND[dtype] * LARGEST_ERROR_OF_WEIGHTS[dtype] else error

    def memory(self, q: Request) -> Request:
        return dict(parts={})

    def reset(self, q: Request) -> Request:
        return {}

    close = reset


def main() -> None:
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engine = Sdpa()
    calls = {name: getattr(engine, name) for name in ("hello", "load", "kernel", "memory", "reset", "close")}
    for line in sys.stdin:
        number, call = 0, ""
        try:
            q = json.loads(line)
            number, call = q["id"], q["call"]
            if call not in calls:
                raise Unsupported(f"there is no call '{call}'")
            answer = dict(id=number, ok=calls[call](q))
        except Unsupported as e:
            answer = dict(id=number, error=dict(kind="unsupported", message=str(e)))
        except (ValueError, KeyError, TypeError) as e:
            answer = dict(id=number, error=dict(kind="bad-request", message=f"{type(e).__name__}: {e}"))
        except Exception as e:
            answer = dict(id=number, error=dict(kind="failed", message=f"{type(e).__name__}: {e}"))
        print(json.dumps(answer), file=protocol, flush=True)
        if call == "close":
            break


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as e:
        sys.exit(f"sdpa.py: {e}")
