# Finds a JDK 25 and Maven. Sourced by ./steelyard and ./verify; sets JAVA_HOME and MVN.

# Prints the feature release of the JDK in $1 (25, 26, …), or nothing when there is no JDK there.
jdk_release() {
  [ -x "$1/bin/javac" ] && [ -r "$1/release" ] &&
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

# JAVA_HOME, then the PATH, then the usual places; 25 itself before anything newer.
find_jdk() {
  local wanted candidate on_path=""
  if candidate=$(command -v java); then on_path=$(dirname "$(dirname "$(readlink -f "$candidate")")"); fi
  for wanted in exact newer; do
    for candidate in "${JAVA_HOME:-}" "$on_path" /usr/lib/jvm/* "${HOME:-/nowhere}"/.sdkman/candidates/java/* \
      "${HOME:-/nowhere}"/.jdks/* /opt/java/* /opt/jdk* /usr/local/jdk* /usr/java/*; do
      local release
      release=$(jdk_release "$candidate") || continue
      if [ "${release:-0}" -eq 25 ] || { [ "$wanted" = newer ] && [ "${release:-0}" -gt 25 ]; }; then
        JAVA_HOME=$candidate
        export JAVA_HOME
        return 0
      fi
    done
  done
  echo "steelyard: no JDK 25 found in JAVA_HOME, on the PATH or under /usr/lib/jvm." >&2
  echo "  Get one: the package temurin-25-jdk or openjdk-25-jdk, 'sdk install java 25-tem'," >&2
  echo "  or https://adoptium.net; then set JAVA_HOME to it." >&2
  return 1
}

find_maven() {
  local candidate
  for candidate in "$(command -v mvn)" "${MAVEN_HOME:-/nowhere}/bin/mvn" "${HOME:-/nowhere}"/.sdkman/candidates/maven/current/bin/mvn; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      MVN=$candidate
      return 0
    fi
  done
  echo "steelyard: building needs Apache Maven 3.8 or newer, and there is no 'mvn' on the PATH." >&2
  echo "  Get it: 'apt-get install maven', 'brew install maven', or https://maven.apache.org." >&2
  return 1
}
