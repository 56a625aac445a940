package io.steelyard.models.catalogue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** A second process: resolves one model and prints its source. */
final class ResolveOnce {
  private ResolveOnce() {}

  /** Arguments: cache, hub, catalogue file. */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> environment =
        Map.of("STEELYARD_CACHE", arguments[0], "HF_ENDPOINT", arguments[1]);
    Catalogue catalogue = Catalogue.parse(Files.readAllBytes(Path.of(arguments[2])));
    ResolvedModel model =
        new ModelResolver(environment, catalogue, HubFetch.Patience.USUAL)
            .resolve("tiny", ResolveListener.NONE);
    System.out.write((model.source() + "\n").getBytes(StandardCharsets.UTF_8));
    System.out.flush();
  }
}
