"""Makes the tiny models that lie beside this file as safetensors, and what they must compute.

    pip install torch==2.15.0 transformers==5.24.0 safetensors && python make.py [NAME ...]

The weights are random, from a seed. The logits are those of Hugging Face transformers with eager attention and float64
throughout: norms, softmax and positions, which transformers computes in float32, too. Seeds are tried in turn until no greedy
choice, and no choice of experts, hangs on less than float32 can tell apart.
"""

import copy
import json
import pathlib
import re
import sys

import numpy
import torch
from safetensors.numpy import save_file
from transformers import AutoConfig, AutoModelForCausalLM

LENGTH = 64
PROMPT = 8
STEPS = 32
VOCABULARY = 320
MARGIN = 0.03
EXPERT_GAP = 2e-3

SHAPE = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=48, num_hidden_layers=4, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=512, rms_norm_eps=1e-6, rope_theta=10000.0, hidden_act="silu",
             attention_bias=False, bos_token_id=304, eos_token_id=304, pad_token_id=304, torch_dtype="float32")

# In the spelling of the published checkpoints.
MODELS = {
    "phi3": SHAPE | dict(
        architectures=["Phi3ForCausalLM"], model_type="phi3", num_hidden_layers=3, num_key_value_heads=4,
        tie_word_embeddings=False, rope_scaling=None, original_max_position_embeddings=512, sliding_window=15),
    "phi3-longrope": SHAPE | dict(
        architectures=["Phi3ForCausalLM"], model_type="phi3", tie_word_embeddings=True, max_position_embeddings=128,
        original_max_position_embeddings=32, partial_rotary_factor=0.75, sliding_window=262144,
        rope_scaling=dict(type="longrope", short_factor=[1.0, 1.05, 1.1, 1.3, 1.5, 1.7], long_factor=[1.1, 1.4, 2.0, 3.1, 4.2, 5.0])),
    "olmo2": SHAPE | dict(
        architectures=["Olmo2ForCausalLM"], model_type="olmo2", num_hidden_layers=3, tie_word_embeddings=False,
        rope_theta=500000, rope_scaling=None),
    "gemma2": SHAPE | dict(
        architectures=["Gemma2ForCausalLM"], model_type="gemma2", num_key_value_heads=1, head_dim=16, query_pre_attn_scalar=16,
        hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh", sliding_window=16, attn_logit_softcapping=3.0,
        final_logit_softcapping=12.0, tie_word_embeddings=True),
    "smollm3": SHAPE | dict(
        architectures=["SmolLM3ForCausalLM"], model_type="smollm3", rope_theta=50000.0, rope_scaling=None, num_hidden_layers=5,
        intermediate_size=32, no_rope_layers=[1, 1, 1, 0, 1], no_rope_layer_interval=4, use_sliding_window=False,
        sliding_window=None, layer_types=["full_attention"] * 5, mlp_bias=False, tie_word_embeddings=True),
    "qwen3-moe": SHAPE | dict(
        architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe", num_hidden_layers=3, head_dim=16, moe_intermediate_size=16,
        num_experts=6, num_experts_per_tok=2, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[],
        rope_scaling=None, use_sliding_window=False, sliding_window=None, tie_word_embeddings=True),
    "qwen2-yarn": SHAPE | dict(
        architectures=["Qwen2ForCausalLM"], model_type="qwen2", max_position_embeddings=128, tie_word_embeddings=True,
        use_sliding_window=False, sliding_window=128, max_window_layers=4,
        rope_scaling=dict(type="yarn", factor=4.0, original_max_position_embeddings=32)),
}


def weights(name, model, seed):
    """Random float32 values for each parameter."""
    generator = numpy.random.default_rng(seed)
    values = {}
    for parameter, old in model.named_parameters():
        random = generator.standard_normal(tuple(old.shape))
        inner = old.shape[-1]
        if parameter.endswith("norm.weight") or "layernorm" in parameter:
            # Gemma's are stored less 1; its embeddings are so large that what is added must be, too.
            random = 0.2 * random + (1 if name != "gemma2" else 6 if "post_" in parameter else 0)
        elif parameter.endswith("bias"):
            random *= 0.4
        elif "embed_tokens" in parameter or "lm_head" in parameter:
            random *= 0.38
        elif re.search(r"q_proj|k_proj|qkv_proj|mlp.gate.weight", parameter):
            random *= 1.5 / inner**0.5
        else:
            random *= 1.3 / inner**0.5
        values[parameter] = random.astype(numpy.float32)
    return values


def stored(values):
    """The tensors as published checkpoints have them: one for each expert."""
    tensors = {}
    for name, value in values.items():
        if name.endswith("experts.gate_up_proj"):
            half = value.shape[1] // 2
            for expert, both in enumerate(value):
                prefix = name.removesuffix("gate_up_proj") + f"{expert}."
                tensors[prefix + "gate_proj.weight"] = both[:half].copy()
                tensors[prefix + "up_proj.weight"] = both[half:].copy()
        elif name.endswith("experts.down_proj"):
            for expert, down in enumerate(value):
                tensors[name.removesuffix("down_proj") + f"{expert}.down_proj.weight"] = down.copy()
        else:
            tensors[name] = value
    return tensors


def build(config, values=None):
    config = {key: value for key, value in copy.deepcopy(config).items() if key not in ("architectures", "torch_dtype")}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config), attn_implementation="eager",
                                             experts_implementation="eager", dtype=torch.get_default_dtype()).eval()
    if values is not None:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(torch.from_numpy(values[name]))
    return model


def logits(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].numpy()


def expert_gap(model, ids):
    """How much the least of the chosen experts is ahead of the best of the others, at the closest."""
    gaps = [float("inf")]

    def note(module, inputs):
        scores = inputs[0].reshape(-1, inputs[0].shape[-1]) @ module.weight.T
        ordered = scores.sort(-1, descending=True).values
        used = model.config.num_experts_per_tok
        gaps.append((ordered[:, used - 1] - ordered[:, used]).min().item())

    hooks = [m.register_forward_pre_hook(note) for n, m in model.named_modules() if n.endswith("mlp.gate")]
    logits(model, ids)
    for hook in hooks:
        hook.remove()
    return min(gaps)


def greedy(model, prompt):
    """Ids and margins, up to one that is too small. Nothing is cached: positions that depend on the length are turned for it."""
    ids, margins = list(prompt), []
    for _ in range(STEPS):
        row = logits(model, ids)[-1]
        second, first = numpy.sort(row)[-2:]
        margins.append(float(first - second))
        if margins[-1] < MARGIN:
            break
        ids.append(int(row.argmax()))
    return ids, margins


def compute(model, seed):
    """Everything that is written, or nothing if something hangs on too little."""
    ids = [int(i) for i in numpy.random.default_rng(1000 + seed).integers(0, VOCABULARY, LENGTH)]
    chosen, margins = greedy(model, ids[:PROMPT])
    new = chosen[PROMPT:]
    if min(margins) < MARGIN or len(set(new)) < STEPS // 4:
        return None
    gap = min(expert_gap(model, ids), expert_gap(model, chosen))
    return None if gap < EXPERT_GAP else (ids, new, margins, gap, logits(model, ids))


def single_precision():
    torch.set_default_dtype(F32)
    torch.float32, torch.float, torch.Tensor.float = F32, F32, FLOAT


def double_precision():
    """Also where the library asks for float32 by name."""
    torch.set_default_dtype(torch.float64)
    torch.float32, torch.float, torch.Tensor.float = torch.float64, torch.float64, torch.Tensor.double


F32, FLOAT = torch.float32, torch.Tensor.float


def make(name, config, folder):
    single_precision()
    shape = build(config)
    double_precision()
    for seed in range(1, 200):
        values = weights(name, shape, seed)
        model = build(config, values)
        found = compute(model, seed)
        if found:
            break
    else:
        sys.exit(f"{name}: no seed does")
    ids, new, margins, gap, golden = found
    folder.mkdir(exist_ok=True)
    if name == "phi3-longrope":
        # Sequences within the first context have factors of their own.
        within = config["original_max_position_embeddings"]
        logits(model, ids[:within]).astype("<f4").tofile(folder / "short.f32")
    single_precision()
    difference = float(numpy.abs(logits(build(config, values), ids) - golden).max())
    golden.astype("<f4").tofile(folder / "logits.f32")
    write(folder / "golden.json", {
        "note": "Hugging Face transformers, eager attention, float64 throughout, stored as float32 [len, vocab] little-endian",
        "seed": seed, "ids": ids, "len": LENGTH, "vocab": VOCABULARY, "logits": "logits.f32",
        "logits_std": round(float(golden.std()), 3), "logits_range": [round(float(golden.min()), 3), round(float(golden.max()), 3)],
        "max_abs_diff_hf_float32": difference} | ({"min_expert_gap": gap} if gap < float("inf") else {}))
    write(folder / "greedy.json", {"prompt": ids[:PROMPT], "ids": new, "margins": [round(m, 5) for m in margins],
                                   "min_margin": round(min(margins), 5)})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    save_file(stored(values), folder / "model.safetensors", metadata={"format": "pt"})
    print(name, "seed", seed, "range", golden.min(), golden.max(), "std", golden.std(), "float32", difference, "margin", min(margins),
          "gap", gap, "bytes", (folder / "model.safetensors").stat().st_size, new)


def write(path, value):
    path.write_text(json.dumps(value) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)  # more only wait for each other at this size
    for each in sys.argv[1:] or MODELS:
        make(each, MODELS[each], pathlib.Path(__file__).parent / each)
