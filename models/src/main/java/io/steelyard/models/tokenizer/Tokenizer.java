package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.Metadata;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/**
 * Text to token ids and back, as the model was trained with.
 *
 * <p>Four kinds are read from the {@code tokenizer.ggml.*} metadata of a GGUF file: {@code gpt2},
 * byte-level byte-pair encoding with the pre-tokenizer that {@code tokenizer.ggml.pre} names;
 * {@code llama}, SentencePiece's byte-pair form with byte fallback; {@code t5}, its unigram form;
 * and {@code bert}, WordPiece. The ids are those of llama.cpp; where a {@code tokenizer.json} asks
 * for other steps before, {@link #NORMALIZER} and {@link #PRE_TOKENIZER} name them, and the ids are
 * those of Hugging Face's tokenizers.
 *
 * <p>Any text can be encoded: a lone surrogate, which UTF-8 can't hold, counts as U+FFFD. Any
 * number of threads may share a tokenizer.
 *
 * @see <a href="https://github.com/ggml-org/ggml/blob/master/docs/gguf.md">the GGUF format</a>
 */
public final class Tokenizer {
  /** Metadata key: what is done to text first, where it isn't what the kind of tokenizer does. */
  public static final String NORMALIZER = "steelyard.tokenizer.normalizer";

  /** Metadata key: how text is cut into words, where it isn't how the kind of tokenizer does it. */
  public static final String PRE_TOKENIZER = "steelyard.tokenizer.pre_tokenizer";

  /** Metadata key: characters beyond which WordPiece takes a word for unknown. */
  public static final String LONGEST_WORD = "steelyard.tokenizer.longest_word";

  private static final String MODEL = "tokenizer.ggml.model";
  private static final String SCORES = "tokenizer.ggml.scores";
  private static final String MERGES = "tokenizer.ggml.merges";
  private static final String SPACE_PREFIX = "tokenizer.ggml.add_space_prefix";
  private static final String CHARSMAP = "tokenizer.ggml.precompiled_charsmap";
  private static final int MOST_STEPS = 64;
  private static final String SUPPORTED_MODELS =
      "gpt2 (byte-level BPE), llama (SentencePiece), t5 (unigram) and bert (WordPiece) are supported";

  private final Vocabulary vocabulary;
  private final SegmentEncoder encoder;
  private final SpecialTokens specialTokens;
  private final OptionalInt bos;
  private final OptionalInt eos;
  private final boolean addBos;
  private final boolean dropsFirstSpace;
  private final Set<Integer> endOfGeneration;

  /** The kinds, with the special tokens that files needn't name. */
  private enum Kind {
    BYTE_PAIR(-1, -1, -1, false),
    SENTENCE_PIECE(1, 2, 0, true),
    UNIGRAM(-1, 1, 2, false),
    WORD_PIECE(-1, -1, 100, true);

    private final int bos;
    private final int eos;
    private final int unknown;
    private final boolean addsBos;

    Kind(int bos, int eos, int unknown, boolean addsBos) {
      this.bos = bos;
      this.eos = eos;
      this.unknown = unknown;
      this.addsBos = addsBos;
    }
  }

  private Tokenizer(Metadata metadata, Kind kind) {
    vocabulary = Vocabulary.of(metadata, kind != Kind.BYTE_PAIR);
    bos = special(metadata, "bos", kind.bos);
    eos = special(metadata, "eos", kind.eos);
    KnownTokens.makeControl(vocabulary);
    Set<Integer> ends = KnownTokens.endsOfGeneration(vocabulary);
    eos.ifPresent(ends::add);
    special(metadata, "eot", -1).ifPresent(ends::add);
    special(metadata, "eom", -1).ifPresent(ends::add);
    endOfGeneration = Collections.unmodifiableSet(new TreeSet<>(ends));
    specialTokens = new SpecialTokens(vocabulary, eatingSpace(metadata));
    int unknown = special(metadata, "unknown", kind.unknown).orElse(-1);
    boolean addsBos = kind.addsBos;
    switch (kind) {
      case BYTE_PAIR -> {
        Family family = Family.named(metadata.string("tokenizer.ggml.pre", ""));
        addsBos = family.addsBos();
        dropsFirstSpace = false;
        encoder = bytePairs(metadata, family);
      }
      case SENTENCE_PIECE -> {
        dropsFirstSpace = metadata.flag(SPACE_PREFIX, true);
        SegmentEncoder pieces =
            new SentencePieceEncoder(vocabulary, scores(metadata), unknown, dropsFirstSpace);
        encoder =
            metadata.has(NORMALIZER)
                ? new PipelineEncoder.Normalized(normalizer(metadata, List.of()), pieces)
                : pieces;
      }
      case UNIGRAM -> {
        dropsFirstSpace = metadata.flag(SPACE_PREFIX, true);
        encoder =
            new PipelineEncoder(
                normalizer(metadata, unigramSteps(metadata)),
                splitter(metadata, List.of()),
                new UnigramEncoder(vocabulary, scores(metadata), unknown));
      }
      case WORD_PIECE -> {
        dropsFirstSpace = true;
        long longest = metadata.integer(LONGEST_WORD, Integer.MAX_VALUE);
        encoder =
            new PipelineEncoder(
                normalizer(metadata, List.of("bert\tclean ideographs accents lower")),
                splitter(metadata, List.of("bert")),
                new WordPieceEncoder(
                    vocabulary, unknown, (int) Math.min(longest, Integer.MAX_VALUE)));
      }
      default -> throw new IllegalStateException("no such kind");
    }
    addBos = bos.isPresent() && metadata.flag("tokenizer.ggml.add_bos_token", addsBos);
  }

  private SegmentEncoder bytePairs(Metadata metadata, Family family) {
    if (!metadata.has(MERGES)) {
      throw metadata.fault(
          "the model has a byte-level BPE vocabulary but no %s; convert it again"
              .formatted(MERGES));
    }
    return new BytePairEncoder(
        vocabulary, family.words(), family.wholeWordsFirst(), metadata.strings(MERGES));
  }

  /** What llama.cpp does to text before it looks for pieces of a unigram model. */
  private static List<String> unigramSteps(Metadata metadata) {
    String spaces =
        "spaces\t%s\t%s"
            .formatted(
                metadata.flag(SPACE_PREFIX, true) ? "prefix" : "",
                metadata.flag("tokenizer.ggml.remove_extra_whitespaces", true) ? "single" : "");
    return metadata.has(CHARSMAP) ? List.of("charsmap", spaces) : List.of(spaces);
  }

  private static Normalizer normalizer(Metadata metadata, List<String> otherwise) {
    Optional<CharsMap> map = Optional.empty();
    if (metadata.has(CHARSMAP)) {
      int[] values = metadata.ints(CHARSMAP);
      byte[] bytes = new byte[values.length];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) values[i];
      }
      map = Optional.of(CharsMap.of(bytes));
    }
    return Normalizer.of(steps(metadata, NORMALIZER, otherwise), map);
  }

  private static WordSplitter splitter(Metadata metadata, List<String> otherwise) {
    return WordSplitter.of(steps(metadata, PRE_TOKENIZER, otherwise));
  }

  private static List<String> steps(Metadata metadata, String key, List<String> otherwise) {
    List<String> steps = metadata.has(key) ? metadata.strings(key) : otherwise;
    if (steps.size() > MOST_STEPS) {
      throw metadata.fault(
          "%s has %d steps; at most %d make sense".formatted(key, steps.size(), MOST_STEPS));
    }
    return steps;
  }

  /**
   * The tokenizer that a model file describes.
   *
   * @throws ModelException if the file has none, has one of an unsupported kind, or contradicts
   *     itself
   */
  public static Tokenizer of(Metadata metadata) {
    if (!metadata.has(MODEL)) {
      throw metadata.fault(
          "the model has no tokenizer (%s): it can be run on token ids, but not on text"
              .formatted(MODEL));
    }
    String model = metadata.string(MODEL);
    return switch (model) {
      case "gpt2" -> new Tokenizer(metadata, Kind.BYTE_PAIR);
      case "llama" -> new Tokenizer(metadata, Kind.SENTENCE_PIECE);
      case "t5" -> new Tokenizer(metadata, Kind.UNIGRAM);
      case "bert" -> new Tokenizer(metadata, Kind.WORD_PIECE);
      case "none", "no_vocab" ->
          throw metadata.fault(
              "the model was stored without its tokenizer (%s = %s): it can be run on token ids, but not on text"
                  .formatted(MODEL, model));
      default ->
          throw metadata.fault(
              "the tokenizer \"%s\" is not supported; %s"
                  .formatted(Vocabulary.shortened(model), SUPPORTED_MODELS));
    };
  }

  /** A special token by its metadata key; one outside the vocabulary counts as none. */
  private OptionalInt special(Metadata metadata, String name, long fallback) {
    long id = metadata.integer("tokenizer.ggml." + name + "_token_id", fallback);
    return id >= 0 && id < vocabulary.size() ? OptionalInt.of((int) id) : OptionalInt.empty();
  }

  private float[] scores(Metadata metadata) {
    if (!metadata.has(SCORES)) {
      throw new ModelException(
          "the model has a SentencePiece vocabulary but no " + SCORES + "; convert it again");
    }
    float[] scores = metadata.floats(SCORES);
    if (scores.length < vocabulary.size()) {
      throw metadata.fault(
          "%s has %d entries for %d tokens; convert the model again"
              .formatted(SCORES, scores.length, vocabulary.size()));
    }
    for (int id = 0; id < vocabulary.size(); id++) {
      if (Float.isNaN(scores[id])) {
        throw metadata.fault("%s[%d] is not a number".formatted(SCORES, id));
      }
    }
    return scores;
  }

  /** Phi-3 alone swallows white space after its special tokens, and no key in the file says so. */
  private BitSet eatingSpace(Metadata metadata) {
    String name = metadata.string("general.name", "").toLowerCase(Locale.ROOT);
    BitSet eating = new BitSet();
    if (name.contains("phi-3") || name.contains("phi3")) {
      eating.set(0, vocabulary.size());
      for (String plain : new String[] {"<unk>", "<s>", "<|endoftext|>"}) {
        int id = vocabulary.idOf(plain);
        if (id >= 0) {
          eating.clear(id);
        }
      }
    }
    return eating;
  }

  /**
   * The token ids of a text; no beginning or end token is added.
   *
   * @param parseSpecial whether the spelling of a control token ({@code <|im_start|>}) becomes that
   *     token; otherwise it is ordinary text. User-defined tokens are recognised either way.
   */
  public int[] encode(String text, boolean parseSpecial) {
    String wellFormed = Utf8.wellFormed(text);
    IntSequence ids = new IntSequence(wellFormed.length() / 3);
    boolean first = true;
    if (!wellFormed.isEmpty()) {
      for (SpecialTokens.Fragment fragment : specialTokens.cut(wellFormed, parseSpecial)) {
        if (fragment.isText()) {
          encoder.encode(wellFormed, fragment.from(), fragment.to(), first, ids);
        } else {
          ids.add(fragment.token());
        }
        first = !fragment.isText();
      }
    }
    return ids.toArray();
  }

  /**
   * The text of some ids, control tokens spelled out. Bytes that are not UTF-8 become U+FFFD; the
   * space that SentencePiece puts before a text is taken off again.
   *
   * @throws ModelException if an id is outside the vocabulary
   */
  public String decode(int[] ids) {
    StreamDecoder decoder = stream(true);
    StringBuilder text = new StringBuilder();
    for (int id : ids) {
      text.append(decoder.push(id));
    }
    text.append(decoder.flush());
    boolean prefixed =
        dropsFirstSpace
            && ids.length > 0
            && type(ids[0]) == TokenType.NORMAL
            && text.indexOf(" ") == 0;
    return prefixed ? text.substring(1) : text.toString();
  }

  /**
   * Decodes tokens as they are generated.
   *
   * @param showControl whether control tokens are spelled out or left out
   */
  public StreamDecoder stream(boolean showControl) {
    return new StreamDecoder(this, showControl);
  }

  /** The number of tokens; ids are 0 to this less one. */
  public int vocabularySize() {
    return vocabulary.size();
  }

  /**
   * A token as the vocabulary spells it: {@code Ġthe}, {@code ▁the}, {@code <0x0A>}.
   *
   * @throws ModelException if the id is outside the vocabulary
   */
  public String piece(int id) {
    return vocabulary.piece(checked(id));
  }

  /**
   * The bytes that a token stands for, which need not be whole characters.
   *
   * @throws ModelException if the id is outside the vocabulary
   */
  public byte[] bytes(int id) {
    return sharedBytes(id).clone();
  }

  byte[] sharedBytes(int id) {
    return vocabulary.bytes(checked(id));
  }

  /**
   * What a token is for.
   *
   * @throws ModelException if the id is outside the vocabulary
   */
  public TokenType type(int id) {
    return vocabulary.type(checked(id));
  }

  private int checked(int id) {
    if (id < 0 || id >= vocabulary.size()) {
      throw new ModelException(
          "token id %d is outside the vocabulary of %d".formatted(id, vocabulary.size()));
    }
    return id;
  }

  /** The id of the token with exactly this spelling, as {@link #piece(int)} gives it. */
  public OptionalInt id(String piece) {
    int id = vocabulary.idOf(piece);
    return id < 0 ? OptionalInt.empty() : OptionalInt.of(id);
  }

  /** The token that begins a text. */
  public OptionalInt bos() {
    return bos;
  }

  /** The token that ends a text. */
  public OptionalInt eos() {
    return eos;
  }

  /** Whether the model expects {@link #bos()} before a text. */
  public boolean addBos() {
    return addBos;
  }

  /**
   * The tokens after which generation ends: of the text, of the turn or of the message, by the
   * metadata and by the names that known models use.
   */
  public Set<Integer> endOfGeneration() {
    return endOfGeneration;
  }
}
