package io.steelyard.models.catalogue;

import io.steelyard.models.NearMatch;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a user is told who names a model that there isn't. */
final class ModelNames {
  private final Catalogue catalogue;

  ModelNames(Catalogue catalogue) {
    this.catalogue = catalogue;
  }

  /** That a name is none, with those that are like it. */
  UnknownNameException unknown(String name) {
    List<String> near =
        Stream.concat(
                catalogue.entries().stream().flatMap(Catalogue.Entry::names),
                Synth.shapes().stream().map(shape -> SynthName.PREFIX + shape.name()))
            .filter(known -> NearMatch.isNear(name, known))
            .toList();
    String advice =
        near.isEmpty() ? whatThereIs() : "did you mean " + String.join(" or ", near) + "?";
    return new UnknownNameException(
        "there is no model and no file '%s'; %s".formatted(name, advice));
  }

  /** All names, as part of a sentence. */
  String whatThereIs() {
    return "models are %s, synth:SHAPE[:TYPE[:SEED]] with the shapes %s, or the path of a .gguf file or of a folder with safetensors files"
        .formatted(
            catalogue.entries().stream()
                .map(Catalogue.Entry::name)
                .collect(Collectors.joining(", ")),
            Synth.shapes().stream().map(Shape::name).collect(Collectors.joining(", ")));
  }
}
