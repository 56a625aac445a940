#!/usr/bin/env python3
"""Measures OpenVINO GenAI in a fresh process, which reads the GGUF file itself.

Its defaults stand, as its users have them: on the CPU they quantise activations to 8 bits where weights are quantised,
and the KV cache too. Times are its own: to the first token, and between tokens.
"""

import time
from pathlib import Path

import peer


class OpenVinoPeer(peer.InThisProcess):
    """OpenVINO GenAI in this process."""

    name = "openvino"

    def __init__(self) -> None:
        try:
            import numpy
            import openvino
            import openvino_genai
        except ImportError as e:
            raise peer.PeerError(
                f"the package {e.name} is missing: pip install -r engines/python/requirements.txt"
            ) from e
        self.numpy, self.openvino, self.genai = numpy, openvino, openvino_genai

    def load(self, model: Path, threads: int, context: int) -> float:
        start = time.perf_counter()
        try:
            self.pipeline = self.genai.LLMPipeline(
                str(model), "CPU", ATTENTION_BACKEND="SDPA", INFERENCE_NUM_THREADS=threads
            )
        except RuntimeError as e:
            raise peer.PeerError(f"{model} can't be loaded: {str(e).strip().splitlines()[-1]}") from e
        return time.perf_counter() - start

    def prefill(self, ids: list[int]) -> tuple[int, float]:
        tokens, metrics = self._generate(ids, 1)
        return tokens[0], metrics.get_ttft().mean / 1e3

    def decode(self, ids: list[int], tokens: int) -> tuple[list[int], float]:
        """The first token's pass is the prompt's: one more is generated, and the passes after it are timed."""
        generated, metrics = self._generate(ids, tokens + 1)
        return generated[:-1], tokens * metrics.get_tpot().mean / 1e3

    def versions(self) -> dict[str, str]:
        return {"openvino": self.openvino.__version__, "openvino-genai": self.genai.__version__}

    def _generate(self, ids: list[int], tokens: int) -> tuple[list[int], "openvino_genai.PerfMetrics"]:
        settings = self.genai.GenerationConfig()
        settings.max_new_tokens = tokens
        settings.ignore_eos = True
        settings.do_sample = False
        result = self.pipeline.generate(self.openvino.Tensor(self.numpy.array([ids], dtype=self.numpy.int64)), settings)
        generated = list(result.tokens[0])
        if len(generated) != tokens:
            raise peer.PeerError(f"it generated {len(generated)} tokens instead of {tokens}")
        return generated, result.perf_metrics


def main() -> None:
    options = peer.parser("Measures OpenVINO GenAI in this process; prints one JSON document.").parse_args()
    peer.run(OpenVinoPeer, options)


if __name__ == "__main__":
    main()
