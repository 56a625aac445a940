package io.steelyard.lab.worker;

import io.steelyard.lab.worker.EngineException.Kind;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Predicate;

/** The JVM engines on the class path. Makes providers, never engines. */
final class EngineProviders {
  private EngineProviders() {}

  /**
   * A provider.
   *
   * @param name the engine's, or the provider's class: looking for a name opens every archive of
   *     the class path, which takes tens of milliseconds
   */
  static EngineProvider find(String name) throws EngineException {
    if (name.contains(".")) {
      return ofClass(name);
    }
    List<EngineProvider> found = new ArrayList<>();
    Optional<String> broken =
        visit(
            provider -> {
              boolean match = provider.name().equals(name);
              if (match) {
                found.add(provider);
              }
              return !match;
            });
    if (!found.isEmpty()) {
      return found.getFirst();
    }
    throw new EngineException(
        Kind.MISSING,
        "there is no engine '"
            + name
            + "' on the class path"
            + broken.map(reason -> "; one provider can't be loaded: " + reason).orElse(""));
  }

  private static EngineProvider ofClass(String name) throws EngineException {
    try {
      return Class.forName(name).asSubclass(EngineProvider.class).getConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
      throw new EngineException(
          Kind.MISSING, "there is no engine's provider '" + name + "' on the class path: " + e, e);
    }
  }

  static List<EngineProvider> all() {
    List<EngineProvider> providers = new ArrayList<>();
    Optional<String> broken = visit(providers::add);
    broken.ifPresent(
        reason -> System.err.println("an engine's provider can't be loaded: " + reason));
    return providers;
  }

  /** One provider that can't be loaded must not hide the others. */
  private static Optional<String> visit(Predicate<EngineProvider> goOn) {
    Optional<String> broken = Optional.empty();
    Iterator<EngineProvider> providers = ServiceLoader.load(EngineProvider.class).iterator();
    while (true) {
      try {
        if (!providers.hasNext() || !goOn.test(providers.next())) {
          return broken;
        }
      } catch (ServiceConfigurationError e) {
        broken = Optional.of(String.valueOf(e.getMessage()));
      }
    }
  }
}
