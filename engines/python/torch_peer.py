#!/usr/bin/env python3
"""Measures PyTorch in a fresh process: transformers' Llama, bfloat16, static cache, scaled_dot_product_attention.

The weights are read from the GGUF file by the shortest way there is: mapped, and copied once. Both modes process the 15
tokens before a decode uncompiled; that isn't timed.
"""

import time
from pathlib import Path
from typing import Any

import peer
from gguf_tensors import BF16, F16, F32, GgufFile

# GGUF's name of a tensor → transformers'; those of a layer come after "blk.N." and "model.layers.N.".
WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


class TorchPeer(peer.InThisProcess):
    """PyTorch in this process."""

    def __init__(self, mode: str) -> None:
        self.name = "torch-" + mode
        try:
            import torch
            import torch._dynamo  # here, so that no load is charged with it
            import transformers
            from transformers import LlamaConfig, LlamaForCausalLM, StaticCache
        except ImportError as e:
            raise peer.PeerError(
                f"the package {e.name} is missing: pip install -r engines/python/requirements.txt"
            ) from e
        self.torch, self.transformers = torch, transformers
        self.new_config, self.new_model, self.new_cache = LlamaConfig, LlamaForCausalLM, StaticCache
        self.compiled = mode == "compiled"
        self.caches: dict[int, Any] = {}

    def load(self, model: Path, threads: int, context: int) -> float:
        torch = self.torch
        torch.set_num_threads(threads)
        start = time.perf_counter()
        file = GgufFile(model)
        self.config = self._config(file)
        with torch.device("meta"):
            self.model = self.new_model(self.config)
        unexpected = self.model.load_state_dict(self._weights(file), strict=False, assign=True).unexpected_keys
        if unexpected:
            raise peer.PeerError(f"{model} has {unexpected[0]}, which transformers' Llama has not")
        self.model.tie_weights()
        self.model.model.rotary_emb = type(self.model.model.rotary_emb)(self.config)
        self._scale_rotation(file)
        self.model.eval()
        missing = [name for name, weight in self.model.named_parameters() if weight.is_meta]
        if missing:
            raise peer.PeerError(f"{model} has no weights for {missing[0]}")
        seconds = time.perf_counter() - start
        # Each length of a call is compiled for itself: that takes longer, and is faster afterwards.
        self.call = torch.compile(self.model.forward, dynamic=False) if self.compiled else self.model.forward
        return seconds

    def prefill(self, ids: list[int]) -> tuple[int, float]:
        with self.torch.inference_mode():
            cache = self._empty_cache(len(ids))
            start = time.perf_counter()
            token = self._next(self.call, ids, cache)
            return token, time.perf_counter() - start

    def decode(self, ids: list[int], tokens: int) -> tuple[list[int], float]:
        generated = []
        with self.torch.inference_mode():
            cache = self._empty_cache(len(ids) + tokens)
            self._next(self.model.forward, ids[:-1], cache)
            token = ids[-1]
            start = time.perf_counter()
            for _ in range(tokens):
                token = self._next(self.call, [token], cache)
                generated.append(token)
            return generated, time.perf_counter() - start

    def versions(self) -> dict[str, str]:
        return {"torch": self.torch.__version__, "transformers": self.transformers.__version__}

    def _next(self, forward: Any, ids: list[int], cache: Any) -> int:
        """The likeliest token after these."""
        logits = forward(input_ids=self.torch.tensor([ids]), cache=cache, use_cache=True, logits_to_keep=1).logits
        return int(logits[0, -1].argmax())

    def _empty_cache(self, length: int) -> Any:
        """A static cache of just that many tokens: one longer than needed would cost the peer time."""
        if length not in self.caches:
            cache = self.new_cache(config=self.config, max_cache_len=length)
            heads, width = self.config.num_key_value_heads, self.config.head_dim
            cache.early_initialization(1, heads, width, self.torch.bfloat16, self.torch.device("cpu"))
            self.caches[length] = cache
        self.caches[length].reset()
        return self.caches[length]

    def _config(self, file: GgufFile) -> Any:
        def entry(name: str, default: Any = None) -> Any:
            return file.metadata.get("llama." + name, default)

        if file.metadata.get("general.architecture") != "llama":
            raise peer.PeerError(
                f"the model's architecture is {file.metadata.get('general.architecture')}: only llama is understood"
            )
        heads, hidden = entry("attention.head_count"), entry("embedding_length")
        config = self.new_config(
            vocab_size=file.tensors["token_embd.weight"].shape[0],
            hidden_size=hidden,
            intermediate_size=entry("feed_forward_length"),
            num_hidden_layers=entry("block_count"),
            num_attention_heads=heads,
            num_key_value_heads=entry("attention.head_count_kv", heads),
            head_dim=entry("attention.key_length", hidden // heads),
            max_position_embeddings=entry("context_length"),
            rms_norm_eps=entry("attention.layer_norm_rms_epsilon"),
            rope_parameters={"rope_type": "default", "rope_theta": entry("rope.freq_base", 10000.0)},
            tie_word_embeddings="output.weight" not in file.tensors,
            attn_implementation="sdpa",
        )
        config.dtype = self.torch.bfloat16
        return config

    def _weights(self, file: GgufFile) -> dict[str, Any]:
        weights = {}
        for name in file.tensors:
            stem, kind = name.rsplit(".", 1)
            if stem.startswith("blk."):
                _, layer, part = stem.split(".")
                if part not in LAYER:
                    raise peer.PeerError(f"{name} is not understood")
                weights[f"model.layers.{layer}.{LAYER[part]}.{kind}"] = self._weight(file, name)
            elif stem in WHOLE:
                weights[f"{WHOLE[stem]}.{kind}"] = self._weight(file, name)
        return weights

    def _weight(self, file: GgufFile, name: str) -> Any:
        torch, tensor = self.torch, file.tensors[name]
        types = {F32: torch.float32, F16: torch.float16, BF16: torch.bfloat16}
        if tensor.type not in types:
            raise peer.PeerError(
                f"{name} is quantised: PyTorch computes in bfloat16, so compare on a BF16 or F16 file"
            )
        count = 1
        for size in tensor.shape:
            count *= size
        mapped = torch.frombuffer(file.data, dtype=types[tensor.type], count=count, offset=tensor.offset)
        weight = mapped.view(tensor.shape).to(torch.bfloat16, copy=True)
        # GGUF has the two halves of a rotated pair side by side, transformers half a head apart.
        if name.endswith(("attn_q.weight", "attn_k.weight")):
            rows, columns = tensor.shape
            pairs = weight.view(rows // self.config.head_dim, -1, 2, columns)
            weight = pairs.transpose(1, 2).reshape(rows, columns)
        return weight

    def _scale_rotation(self, file: GgufFile) -> None:
        """Divides the rotation's frequencies by the factors of the file, if it has any, as Llama 3 does."""
        if factors := file.tensors.get("rope_freqs.weight"):
            values = self.torch.frombuffer(
                file.data, dtype=self.torch.float32, count=factors.shape[0], offset=factors.offset
            )
            rotary = self.model.model.rotary_emb
            rotary.inv_freq = rotary.inv_freq / values


def main() -> None:
    parser = peer.parser("Measures PyTorch in this process; prints one JSON document.")
    parser.add_argument("--mode", choices=["eager", "compiled"], default="eager", help="with or without torch.compile")
    options = parser.parse_args()
    peer.run(lambda: TorchPeer(options.mode), options)


if __name__ == "__main__":
    main()
