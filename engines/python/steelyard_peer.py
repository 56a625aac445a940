#!/usr/bin/env python3
"""Measures a fresh worker of Steelyard, started as the lab starts one, on the token ids that the others get.

It speaks the protocol of docs/writing-an-engine.md. Times of calls are the worker's own; the cold start is timed here.
"""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import peer

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / "app/target/lib"


def build() -> None:
    """Builds Steelyard if its sources have changed."""
    if subprocess.run([ROOT / "steelyard", "--version"], stdout=subprocess.DEVNULL).returncode:
        raise peer.PeerError("Steelyard can't be built; what stands above says why")


def worker_command() -> list[str]:
    """What ``WorkerCommand.jvm`` of the lab starts: protocol on descriptor 3, whatever else prints on standard error."""
    find = f'. "{ROOT}/build/toolchain.sh"; find_jdk && echo "$JAVA_HOME"'
    home = subprocess.run(["bash", "-c", find], stdout=subprocess.PIPE, text=True).stdout.strip()
    if not home:
        raise peer.PeerError("Steelyard needs a JDK 25; what stands above says where to get one")
    command = ["/bin/sh", "-c", 'exec "$@" 3>&1 1>&2', "sh", f"{home}/bin/java"]
    command += ["--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xms16m", "-Xmx2g"]
    command += ["-XX:ThreadPriorityPolicy=1", "-XX:CompilerThreadPriority=5", "-XX:-PrintWarnings"]
    command += ["-Djdk.reflect.useNativeAccessorOnly=true", "-XX:+UnlockDiagnosticVMOptions"]
    command += ["-XX:ArchiveRelocationMode=0", "-XX:InlineSmallCode=200", "-XX:NewSize=2m"]
    cache = LIBRARIES / "workers.aot"
    if cache.exists():
        command.append(f"-XX:AOTCache={cache}")
    main = "io.steelyard.lab.worker.WorkerMain"
    provider = "io.steelyard.engines.steelyard.SteelyardProvider"
    return command + ["-cp", f"{LIBRARIES}/*", main, provider, "/dev/fd/3"]


class SteelyardPeer:
    """A worker, started with this object."""

    name = "steelyard"

    def __init__(self) -> None:
        command = worker_command()
        self.calls = 0
        self.started = time.monotonic_ns()
        environment = os.environ | {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "32768"}
        self.worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.info = self._call("hello")

    def started_ns(self) -> int:
        return self.started

    def load(self, model: Path, threads: int, context: int) -> float:
        report = self._call(
            "load", model=str(model), threads=threads, context=context, kv="f16", flash_attention=True, options={}
        )
        return sum(report["phases"].values()) / 1e9

    def prefill(self, ids: list[int]) -> tuple[int, float]:
        report = self._call("prefill", ids=ids, depth=0)
        return report["argmax"], report["nanos"] / 1e9

    def decode(self, ids: list[int], tokens: int) -> tuple[list[int], float]:
        none = {"repeat": 1, "last": 0, "frequency": 0, "presence": 0}
        greedy = {
            "temperature": 0, "top_k": 0, "typical": 1, "top_p": 1, "min_p": 0, "penalties": none, "seed": 0,
        }
        report = self._call("decode", ids=ids, tokens=tokens, sampling=greedy, margins=False, stream=False, stop=[])
        return report["ids"], report["nanos"][-1] / 1e9

    def peak_bytes(self) -> int:
        return peer.peak_bytes(self.worker.pid)

    def versions(self) -> dict[str, str]:
        return {"steelyard": self.info["version"], "build": self.info["build"]}

    def close(self) -> None:
        """A worker ends by itself within two seconds of the end of its input."""
        with contextlib.suppress(BrokenPipeError):
            self.worker.stdin.close()
        self.worker.wait()

    def _call(self, name: str, **parameters: Any) -> dict[str, Any]:
        self.calls += 1
        request = {"id": self.calls, "call": name, **parameters}
        try:
            self.worker.stdin.write(json.dumps(request).encode() + b"\n")
            self.worker.stdin.flush()
            line = self.worker.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise peer.PeerError(f"the worker ended during '{name}'; what stands above says why")
        answer = json.loads(line)
        if "error" in answer:
            raise peer.PeerError(answer["error"]["message"])
        return answer["ok"]


def main() -> None:
    options = peer.parser("Measures a fresh worker of Steelyard; prints one JSON document.").parse_args()
    build()
    peer.run(SteelyardPeer, options)


if __name__ == "__main__":
    main()
