package io.steelyard.models.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EnvironmentProxyTest {
  private static final URI HUB = URI.create("https://cdn.hub.example/file");

  @Test
  void takesTheProxyOfTheScheme() {
    Map<String, String> environment =
        Map.of("HTTPS_PROXY", "http://proxy.example:3128", "http_proxy", "other.example:8080");

    assertThat(proxy(environment, HUB)).isEqualTo(at("proxy.example", 3128));
    assertThat(proxy(environment, URI.create("http://hub.example/")))
        .isEqualTo(at("other.example", 8080));
  }

  @Test
  void goesDirectlyWithoutOne() {
    assertThat(proxy(Map.of(), HUB)).isEqualTo(Proxy.NO_PROXY);
    assertThat(proxy(Map.of("HTTP_PROXY", "http://proxy.example:3128"), HUB))
        .isEqualTo(Proxy.NO_PROXY);
  }

  @Test
  void exceptsHostsAndTheirSubdomains() {
    for (String except : new String[] {"hub.example", ".hub.example", "a.b, *.hub.example", "*"}) {
      Map<String, String> environment =
          Map.of("HTTPS_PROXY", "http://proxy.example:3128", "NO_PROXY", except);
      assertThat(proxy(environment, HUB)).as(except).isEqualTo(Proxy.NO_PROXY);
    }
    Map<String, String> environment =
        Map.of("HTTPS_PROXY", "http://proxy.example:3128", "no_proxy", "ub.example,,localhost");
    assertThat(proxy(environment, HUB)).isEqualTo(at("proxy.example", 3128));
  }

  private static Proxy proxy(Map<String, String> environment, URI uri) {
    return new EnvironmentProxy(environment).select(uri).getFirst();
  }

  private static Proxy at(String host, int port) {
    return new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(host, port));
  }
}
