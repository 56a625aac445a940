"""Trains small tokenizers and writes what they make of some texts. Usage: make.py CORPUS.txt OUT [LIBLLAMA.so [OFFSET]]

NAME.json        tokenizers in Hugging Face's format; ids by its library `tokenizers`
NAME.model       SentencePiece models; ids by the library `sentencepiece`
cases.json       {"texts": [...], "ids": {NAME: [ids of each text]}, "words": {PRE: [words of each text]}};
                 NAME.gguf: ids by llama.cpp of the same vocabulary in GGUF, whose kinds know but one normalizer each;
                 words: how the patterns that GGUF names PRE cut, by `tokenizers`
OFFSET is that of vocab_only in llama_model_params, which changes between releases.
The tokenizers are trained on the lines of any text; the project's README.md was taken.
"""

import base64
import ctypes
import json
import pathlib
import struct
import sys
import tempfile

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

corpus = pathlib.Path(sys.argv[1]).read_text().splitlines()
out = pathlib.Path(sys.argv[2])
here = pathlib.Path(__file__).parent
texts = [case["text"] for case in json.loads((here / "../tiny.cases.json").read_text())]
texts = [text for text in texts if len(text) < 90][::2] + [
    "Ünïcödé Straße ÀÉÎõü İstanbul ΣΊΣΥΦΟΣ",
    "e\u0301a\u0300 n\u0303o ﬁne ﬂow Ⅷ ½ x² ①",
    "ﬁ\u0301 ￥１２３ Ｆｕｌｌ　ｗｉｄｔｈ ㍍",
    "中文字符混合English漢字かな한국어 한글",
    "tabs\there\nlines\r\nand  several   spaces    ",
    "  leading",
    "zero\u200bwidth \ufeffmark\u00a0nbsp\u2003em soft\u00adhyphen\u0007bell \ue000private",
    "a" * 101 + " " + "b" * 100,
    "don't stop-gap (parentheses) [brackets] {braces} $5.00 + 3% = ~^`|<>",
    "snake_case camelCase ALLCAPS x1y2z3 3.14159 1,234,567",
    "▁already ▁▁marked",
    "😀 emoji 👩‍👩‍👧 family 🇩🇪 flag",
    "हिन्दी नमस्ते ไทย עברית العربية",
    "the model measures the engine against the engine",
    "[CLS] the [MASK] [SEP] <s> the </s> <pad>",
    "un\u0301known ⟨brackets⟩ ∑∫√ ♥ \U00020000 \U0002a700",
    "   ",
    "",
]
names, ids = [], {}


def keep(name, tokenizer):
    tokenizer.save(str(out / (name + ".json")), pretty=False)
    ids[name] = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]


def unigram(name, normalizer, words, vocab=None, byte_fallback=False, size=330):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, words
    special = ["<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(
        corpus, trainers.UnigramTrainer(vocab_size=size, special_tokens=special, unk_token="<unk>", show_progress=False)
    )
    state = json.loads(tokenizer.to_str())
    # Scores are float32 in SentencePiece's files and in GGUF; with others equal sums would be told apart otherwise.
    state["model"]["vocab"] = [[piece, struct.unpack("<f", struct.pack("<f", score))[0]] for piece, score in state["model"]["vocab"]]
    if byte_fallback:
        state["model"]["vocab"] += [[f"<0x{value:02X}>", 0.0] for value in range(256)]
        state["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(state))
    keep(name, tokenizer)
    if byte_fallback:
        # Text that spells a byte's piece is text to SentencePiece and to us, that piece to this library.
        ids[name] = [None if "<0x" in text else row for text, row in zip(texts, ids[name])]


def word_piece(name, normalizer, words, longest=100):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=longest))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, words
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special, show_progress=False))
    keep(name, tokenizer)


RULES = {"ﬁ": "fi", "ﬂ": "fl", "e\u0301": "é", "½": "1/2", "　": " ", "\u00a0": " ", "\u200b": "", "Ⅷ": "VIII", "①": "1", "\t": " "}
RULES |= {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


def piece_model(name, kind, rules, **options):
    with tempfile.TemporaryDirectory() as folder:
        if rules:
            lines = [" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) for a, b in RULES.items()]
            rules = pathlib.Path(folder) / "rules.tsv"
            rules.write_text("\n".join(lines) + "\n")
            options["normalization_rule_tsv"] = str(rules)
        else:
            options["normalization_rule_name"] = "identity"
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus), model_prefix=folder + "/m", model_type=kind, minloglevel=2, **options
        )
        data = pathlib.Path(folder + "/m.model").read_bytes()
    (out / (name + ".model")).write_bytes(data)
    processor = sentencepiece.SentencePieceProcessor(model_proto=data)
    ids[name] = [processor.encode(text) for text in texts]
    return data, processor


def charsmap(data):
    """The field precompiled_charsmap of a model's normalizer_spec."""
    at = 0
    fields = {}

    def varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at

    while at < len(data):
        key, at = varint(data, at)
        size, at = varint(data, at)
        fields[key >> 3] = data[at : at + size]
        at += size
    data, at = fields[3], 0
    while at < len(data):
        key, at = varint(data, at)
        size, at = varint(data, at)
        if key & 7 == 2:
            if key >> 3 == 2:
                return data[at : at + size]
            at += size


collapse = normalizers.Replace(Regex(" {2,}"), " ")
unigram("unigram-nfkc", normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), collapse]), pre_tokenizers.Metaspace())
unigram(
    "unigram-bytes",
    normalizers.Sequence([normalizers.Strip(left=False, right=True), normalizers.Replace("``", '"'), normalizers.NFC()]),
    pre_tokenizers.Metaspace(prepend_scheme="first", split=False),
    byte_fallback=True,
)
unigram(
    "unigram-lower",
    normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Prepend("x")]),
    pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Metaspace(prepend_scheme="never")]
    ),
)
word_piece("wordpiece-uncased", normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer())
word_piece("wordpiece-cased", normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False, strip_accents=False), pre_tokenizers.BertPreTokenizer(), 12)
word_piece(
    "wordpiece-words",
    normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]),
    pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(), pre_tokenizers.Punctuation()]),
)
data, processor = piece_model("sentencepiece-unigram", "unigram", True, vocab_size=300, pad_id=3)
piece_model("sentencepiece-unigram-bytes", "unigram", True, vocab_size=600, byte_fallback=True, remove_extra_whitespaces=False)
piece_model("sentencepiece-bpe", "bpe", False, vocab_size=600, byte_fallback=True, remove_extra_whitespaces=False)
piece_model("sentencepiece-bpe-rules", "bpe", True, vocab_size=400, add_dummy_prefix=False)
pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.vocab_size())]
tokenizer = Tokenizer(models.Unigram(pieces, processor.unk_id(), False))
tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap(data)), collapse])
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
keep("unigram-charsmap", tokenizer)


def gguf(name, model, spelled):
    """A GGUF file with a vocabulary alone."""
    state = json.loads((out / (name + ".json")).read_text())
    text = lambda value: struct.pack("<Q", len(value.encode())) + value.encode()
    entries = [("general.architecture", 8, text("llama")), ("tokenizer.ggml.model", 8, text(model))]
    vocab = state["model"]["vocab"]
    if model == "t5":
        tokens, scores, unknown = [p for p, _ in vocab], [s for _, s in vocab], state["model"]["unk_id"]
    else:
        tokens = [spelled(token) for token, _ in sorted(vocab.items(), key=lambda item: item[1])]
        scores, unknown = [0.0] * len(tokens), vocab["[UNK]"]
    special = {token["id"] for token in state["added_tokens"]}
    kinds = [2 if i == unknown else 3 if i in special else 1 for i in range(len(tokens))]
    array = lambda kind, values, form: struct.pack("<IQ", kind, len(values)) + b"".join(form(value) for value in values)
    entries.append(("tokenizer.ggml.tokens", 9, array(8, tokens, text)))
    entries.append(("tokenizer.ggml.scores", 9, array(6, scores, lambda value: struct.pack("<f", value))))
    entries.append(("tokenizer.ggml.token_type", 9, array(5, kinds, lambda value: struct.pack("<i", value))))
    entries.append(("tokenizer.ggml.unknown_token_id", 4, struct.pack("<I", unknown)))
    if model == "t5":
        entries.append(("tokenizer.ggml.add_space_prefix", 7, b"\1"))
        entries.append(("tokenizer.ggml.remove_extra_whitespaces", 7, b"\1"))
        steps = state["normalizer"]["normalizers"] if state["normalizer"]["type"] == "Sequence" else []
        for step in steps:
            if step["type"] == "Precompiled":
                table = base64.b64decode(step["precompiled_charsmap"])
                entries.append(("tokenizer.ggml.precompiled_charsmap", 9, struct.pack("<IQ", 0, len(table)) + table))
    body = b"".join(text(key) + struct.pack("<I", kind) + value for key, kind, value in entries)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + body


def by_llama_cpp(library, name, model, spelled=None):
    class Parameters(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_ubyte * 80)]

    library.llama_model_default_params.restype = Parameters
    library.llama_model_load_from_file.restype = ctypes.c_void_p
    library.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Parameters]
    library.llama_model_get_vocab.restype = ctypes.c_void_p
    library.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
    library.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_bool, ctypes.c_bool]
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(gguf(name, model, spelled))
        file.flush()
        parameters = library.llama_model_default_params()
        parameters.bytes[VOCAB_ONLY] = 1
        loaded = library.llama_model_load_from_file(file.name.encode(), parameters)
    vocab = library.llama_model_get_vocab(loaded)
    rows = []
    for text in texts:
        buffer = (ctypes.c_int32 * 2048)()
        encoded = text.encode()
        count = library.llama_tokenize(vocab, encoded, len(encoded), buffer, 2048, False, True)
        rows.append(list(buffer[:count]))
    ids[name + ".gguf"] = rows


VOCAB_ONLY = int(sys.argv[4]) if len(sys.argv) > 4 else 72
if len(sys.argv) > 3:
    folder = pathlib.Path(sys.argv[3]).parent
    ctypes.CDLL(str(folder / "libggml-base.so"), ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(sys.argv[3], ctypes.RTLD_GLOBAL)
    backends = ctypes.CDLL(str(next(folder.glob("libggml.*so"))))
    backends.ggml_backend_load_all_from_path(str(folder).encode())
    spelled = lambda token: token if token[0] + token[-1] == "[]" else token[2:] if token.startswith("##") else "▁" + token
    by_llama_cpp(library, "wordpiece-uncased", "bert", spelled)
    by_llama_cpp(library, "unigram-nfkc", "t5")
    by_llama_cpp(library, "unigram-charsmap", "t5")

# As llama.cpp has it, which is not (?i:...): that takes U+017F for an s.
CONTRACTIONS = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
LEAD, ENDS = r"[^\r\n\p{L}\p{N}]?", r"|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
cased = lambda contractions, digits: (
    LEAD + UPPER + "*" + LOWER + "+" + contractions + "|" + LEAD + UPPER + "+" + LOWER + "*" + contractions
    + r"|\p{N}" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + ENDS
)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
PATTERNS = {
    "gpt-4o": [cased(CONTRACTIONS + "?", "{1,3}")],
    "tekken": [cased("", "")],
    "deepseek-coder": ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", pre_tokenizers.Digits(individual_digits=True)],
    "deepseek-v3": [
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*""" + ENDS,
    ],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "qwen35": [CONTRACTIONS + "|" + LEAD + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + ENDS],
    "seed-coder": [CONTRACTIONS + "|" + LEAD + r"\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+" + ENDS],
    "bailingmoe": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "bloom": [BLOOM],
    "viking": [BLOOM, pre_tokenizers.Digits(individual_digits=True)],
    "starcoder": [pre_tokenizers.Digits(individual_digits=True), GPT2],
    "llama-bpe": [CONTRACTIONS + "|" + LEAD + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + ENDS],
    "qwen2": [CONTRACTIONS + "|" + LEAD + r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + ENDS],
}
words = {}
for pre, stages in PATTERNS.items():
    steps = [pre_tokenizers.Split(Regex(stage), "isolated") if isinstance(stage, str) else stage for stage in stages]
    splitter = pre_tokenizers.Sequence(steps)
    words[pre] = [[word for word, _ in splitter.pre_tokenize_str(text)] for text in texts]

(out / "cases.json").write_text(json.dumps({"texts": texts, "ids": ids, "words": words}, ensure_ascii=False, separators=(",", ":")) + "\n")
print({name: len(rows) for name, rows in ids.items()}, len(texts))
