"""What a fresh process of any engine does, and how it is timed: the same calls on the same token ids for all of them.

The definitions are those of ``./steelyard bench``: coldstart is process start → first token after a prompt of 32
tokens; ppN is N prompt tokens ÷ seconds of one call; tgN is N tokens ÷ seconds of N passes of one token after a prompt
of 16, the last of which is the first input, greedy. Each trial is warmed with itself, on prompts of its own.
"""

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, Protocol

START_PROMPT = 32
DECODE_PROMPT = 16
WARM_UP_CALLS = 2, 12  # at least and at most; between them a warm-up ends after so many seconds
WARM_UP_SECONDS = 5.0
VOCABULARY = 4096  # every id is below this, so that no engine has to be asked for its vocabulary
STARTED = "PEER_STARTED_NS"  # environment: time.monotonic_ns() of the caller when it started this process


class PeerError(Exception):
    """What went wrong, in one sentence for the user."""


class Engine(Protocol):
    """An engine in this process, or in one that it started."""

    name: str

    def started_ns(self) -> int:
        """When the engine's process started, on the clock of ``time.monotonic_ns``."""

    def load(self, model: Path, threads: int, context: int) -> float:
        """Loads a GGUF file for a context of that many tokens; gives the seconds, libraries already imported."""

    def prefill(self, ids: list[int]) -> tuple[int, float]:
        """Processes a prompt from an empty cache; gives the likeliest next token and the seconds."""

    def decode(self, ids: list[int], tokens: int) -> tuple[list[int], float]:
        """Generates that many tokens greedily after a prompt; gives them and the seconds of their passes."""

    def peak_bytes(self) -> int:
        """Largest resident set so far."""

    def versions(self) -> dict[str, str]:
        """Versions of what computes, by name."""

    def close(self) -> None:
        """Ends the engine's process, unless it is this one."""


class InThisProcess:
    """What engines in this process have in common."""

    def started_ns(self) -> int:
        return process_started_ns()

    def peak_bytes(self) -> int:
        return peak_bytes("self")

    def close(self) -> None:
        pass


def prompt(length: int, number: int) -> list[int]:
    """Token ids of a prompt; prompts of different numbers differ from the first token on."""
    return [(101 * number + 1237 * i + 11) % VOCABULARY for i in range(length)]


def process_started_ns() -> int:
    """When this process started: from the caller, else from the kernel, whose ticks are 10 ms."""
    if STARTED in os.environ:
        return int(os.environ[STARTED])
    after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    since_boot = int(after_name[19]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return since_boot - time.clock_gettime_ns(time.CLOCK_BOOTTIME) + time.monotonic_ns()


def peak_bytes(pid: int | str) -> int:
    """Largest resident set of a process so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise PeerError(f"process {pid} has ended: its memory can't be read")


def measure(engine: Engine, options: argparse.Namespace) -> dict[str, Any]:
    """Makes every call of a process and gives its figures: seconds, tokens a second, bytes, and the tokens."""
    needed = max(options.prompt, DECODE_PROMPT + options.gen, START_PROMPT)
    load = engine.load(options.model, options.threads, -(-needed // 256) * 256)
    token, first_call = engine.prefill(prompt(START_PROMPT, 0))
    cold_start = (time.monotonic_ns() - engine.started_ns()) / 1e9

    def timed(call: Callable[[int], tuple[Any, float]]) -> tuple[float, list[Any], list[float]]:
        """Seconds of the first call; what the trials gave, and their seconds."""
        warm_ups: list[float] = []
        least, most = WARM_UP_CALLS
        while len(warm_ups) < least or (len(warm_ups) < most and sum(warm_ups) < WARM_UP_SECONDS):
            warm_ups.append(call(options.trials + 1 + len(warm_ups))[1])
        trials = [call(1 + number) for number in range(options.trials)]
        return warm_ups[0], [output for output, _ in trials], [seconds for _, seconds in trials]

    first_prefill, next_tokens, prefills = timed(lambda number: engine.prefill(prompt(options.prompt, number)))
    first_decode, generated, decodes = timed(lambda number: engine.decode(prompt(DECODE_PROMPT, number), options.gen))
    return {
        "engine": engine.name,
        "versions": engine.versions(),
        "model": str(options.model),
        "threads": options.threads,
        "load_s": load,
        "coldstart_s": cold_start,
        "first_call_s": first_call,
        "first_prefill_s": first_prefill,
        "first_decode_s": first_decode,
        f"pp{options.prompt}_tok_s": [options.prompt / seconds for seconds in prefills],
        f"tg{options.gen}_tok_s": [options.gen / seconds for seconds in decodes],
        "peak_bytes": engine.peak_bytes(),
        "next_tokens": [token, *next_tokens],
        "generated": generated,
    }


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; --help shows what there is\n")


def at_least(least: int):
    """A type of argument: a whole number that isn't less."""

    def whole_number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} up")
        return int(text)

    return whole_number


def model_file(text: str) -> Path:
    """A type of argument: a GGUF file."""
    path = Path(text)
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as e:
        raise argparse.ArgumentTypeError(f"'{text}' can't be read ({e.strerror})") from e
    if magic != b"GGUF":
        raise argparse.ArgumentTypeError(f"'{text}' is not a GGUF file")
    return path.resolve()


def parser(description: str) -> Parser:
    """The arguments that all programs here share."""
    shared = Parser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    shared.add_argument(
        "--model", type=model_file, required=True, default=argparse.SUPPRESS, metavar="FILE", help="a GGUF file"
    )
    shared.add_argument("--prompt", type=at_least(1), default=512, metavar="N", help="prompt tokens of a prefill")
    shared.add_argument("--gen", type=at_least(1), default=64, metavar="N", help="tokens of a decode")
    shared.add_argument("--threads", type=at_least(1), default=2, metavar="N", help="compute threads")
    shared.add_argument("--trials", type=at_least(0), default=3, metavar="N", help="timed calls of either kind")
    return shared


def run(create: Callable[[], Engine], options: argparse.Namespace) -> None:
    """Measures an engine and prints one JSON document on standard output, which is kept from whatever else prints."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        with contextlib.closing(create()) as engine:
            document = measure(engine, options)
    except PeerError as e:
        sys.exit(f"{Path(sys.argv[0]).name}: {e}")
    print(json.dumps(document), file=output, flush=True)
