package io.steelyard.models;

import io.steelyard.kernels.ChosenTier;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.models.architecture.Architecture;
import io.steelyard.models.architecture.Config;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.tokenizer.Tokenizer;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A model, loaded: its weights stay mapped from the file, and {@link Session}s run it. It must
 * outlive its sessions. Not for use by several threads at once.
 */
public final class Model implements AutoCloseable {
  private final ModelFile file;
  private final Kernels kernels;
  private final Arena arena;
  private final Architecture architecture;
  private Tokenizer tokenizer;
  private Optional<Kernels> ownKernels = Optional.empty();

  private Model(ModelFile file, Kernels kernels, Arena arena) {
    this.file = file;
    this.kernels = kernels;
    this.arena = arena;
    this.architecture = Architecture.load(file, kernels, arena);
  }

  /**
   * Loads a GGUF file, or a folder with safetensors or PyTorch files, for the fastest tier that
   * this JVM and processor can run, on all processors. If that is no machine code, the log warns,
   * as {@link ChosenTier#here} says.
   *
   * @throws ModelException if it can't be read, is damaged, or holds what isn't supported
   */
  public static Model load(Path path) {
    ChosenTier chosen = ChosenTier.here();
    if (!chosen.notice().isEmpty()) {
      System.getLogger(Model.class.getName()).log(Level.WARNING, chosen.notice());
    }
    Kernels kernels = Kernels.of(chosen.tier(), Runtime.getRuntime().availableProcessors());
    try {
      Model model = load(path, kernels);
      model.ownKernels = Optional.of(kernels);
      return model;
    } catch (RuntimeException | Error e) {
      kernels.close();
      throw e;
    }
  }

  /**
   * The same for given kernels, which must outlive the model.
   *
   * @throws ModelException if it can't be read, is damaged, or holds what isn't supported
   */
  public static Model load(Path path, Kernels kernels) {
    ModelFile file = ModelFile.open(path);
    Arena arena = Arena.ofShared();
    try {
      Model model = new Model(file, kernels, arena);
      file.checkUnchanged();
      return model;
    } catch (RuntimeException | Error e) {
      arena.close();
      file.close();
      throw e;
    }
  }

  /** The model's shape. */
  public Config config() {
    return architecture.config();
  }

  /** Whether no token sees a later one, so that text is generated token by token. */
  public boolean causal() {
    return architecture.causal();
  }

  /** The file's key-value part. */
  public Metadata metadata() {
    return file.metadata();
  }

  /**
   * The model's tokenizer, made on first use.
   *
   * @throws ModelException if the file has none, or one that isn't supported; the model still runs
   *     on token ids
   */
  public Tokenizer tokenizer() {
    if (tokenizer == null) {
      tokenizer = Tokenizer.of(file.metadata());
    }
    return tokenizer;
  }

  /** Number of weights. */
  public long parameters() {
    return architecture.weights().parameters();
  }

  /** Bytes of weights, mapped and owned. */
  public long weightBytes() {
    return architecture.weights().bytes();
  }

  /**
   * Those of them that are owned: vectors, and matrices that the kernels hold in another layout.
   */
  public long ownedWeightBytes() {
    return architecture.weights().ownedBytes();
  }

  /** The matrices' types by share of parameters, such as {@code Q4_1 79% + Q8_0 21%}. */
  public String precision() {
    return architecture.weights().precision();
  }

  /** How the kernels round activations: {@code f32} for not at all. */
  public String activations() {
    return kernels.activations(architecture.weights().types());
  }

  /**
   * A new session with an empty cache.
   *
   * @param capacity positions that its cache holds
   * @param kvType {@link DataType#F16}, {@link DataType#F32} or {@link DataType#Q8_0}
   */
  public Session newSession(int capacity, DataType kvType) {
    return newSession(capacity, kvType, Session.BATCH);
  }

  /**
   * A new session with an empty cache and passes of another size.
   *
   * @param batch the most tokens in one pass
   */
  public Session newSession(int capacity, DataType kvType, int batch) {
    return new Session(architecture, kernels, capacity, kvType, batch);
  }

  /**
   * A new session with an empty cache of {@code float16} keys and values.
   *
   * @param capacity positions that its cache holds
   */
  public Session newSession(int capacity) {
    return newSession(capacity, DataType.F16);
  }

  /**
   * A batch for many sequences at a time, with caches of {@code float16} keys and values and
   * nothing shared.
   *
   * @param parallel how many sequences are processed together
   * @param capacity positions of each one's cache
   * @throws ModelException if the model doesn't generate token by token
   */
  public Batch newBatch(int parallel, int capacity) {
    return newBatch(new Batch.Settings(parallel, capacity, DataType.F16, false));
  }

  /**
   * A batch for many sequences at a time.
   *
   * @throws ModelException if the model doesn't generate token by token
   */
  public Batch newBatch(Batch.Settings settings) {
    return new Batch(architecture, kernels, this::tokenizer, settings);
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    arena.close();
    file.close();
    ownKernels.ifPresent(Kernels::close);
  }
}
