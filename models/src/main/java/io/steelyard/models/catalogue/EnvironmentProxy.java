package io.steelyard.models.catalogue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The proxy that {@code HTTPS_PROXY}, {@code HTTP_PROXY} and {@code NO_PROXY} name, in either case,
 * as curl and pip read them; Java itself looks at system properties alone.
 */
public final class EnvironmentProxy extends ProxySelector {
  private final Map<String, String> environment;

  /** Reads these environment variables. */
  public EnvironmentProxy(Map<String, String> environment) {
    this.environment = environment;
  }

  @Override
  public List<Proxy> select(URI uri) {
    String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
    String setting = variable(scheme + "_proxy");
    if (setting.isEmpty() || excepted(uri.getHost())) {
      return List.of(Proxy.NO_PROXY);
    }
    URI proxy = URI.create(setting.contains("://") ? setting : "http://" + setting);
    if (proxy.getHost() == null) {
      return List.of(Proxy.NO_PROXY);
    }
    int port = proxy.getPort() > 0 ? proxy.getPort() : 80;
    return List.of(
        new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(proxy.getHost(), port)));
  }

  @Override
  public void connectFailed(URI uri, SocketAddress address, IOException e) {
    // The request fails with the same exception.
  }

  private boolean excepted(String host) {
    for (String suffix : variable("no_proxy").split(",", -1)) {
      String plain = suffix.strip().replaceFirst("^\\*?\\.", "");
      if (plain.equals("*")
          || (!plain.isEmpty() && (host.equals(plain) || host.endsWith("." + plain)))) {
        return true;
      }
    }
    return false;
  }

  private String variable(String name) {
    String lower = environment.getOrDefault(name, "");
    return lower.isEmpty() ? environment.getOrDefault(name.toUpperCase(Locale.ROOT), "") : lower;
  }
}
