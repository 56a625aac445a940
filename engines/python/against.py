#!/usr/bin/env python3
"""Compares Steelyard with another engine on one file: fresh processes of both in turn, ratios with an interval."""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import peer
import steelyard_peer

HERE = Path(__file__).resolve().parent
PEERS = {
    "torch-eager": ["torch_peer.py", "--mode", "eager"],
    "torch-compiled": ["torch_peer.py", "--mode", "compiled"],
    "openvino": ["openvino_peer.py"],
}
# Student's t that 2.5 % of samples exceed, for 1, 2, … degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
STUDENT += [2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045]
MOST_BLOCKS = len(STUDENT) + 1

Document = dict[str, Any]


class Metric(NamedTuple):
    """A figure of a process: its name, its member in the document, what it is multiplied with, and its unit."""

    name: str
    member: str
    scale: float
    unit: str

    def values(self, document: Document) -> list[float]:
        """Of each trial, or the only one, in the unit."""
        value = document[self.member]
        return [self.scale * v for v in (value if isinstance(value, list) else [value])]

    def of_process(self, document: Document) -> float:
        """One value: of rates, total tokens over total time."""
        return statistics.harmonic_mean(self.values(document))

    def ratio(self, block: dict[str, Document], name: str) -> float:
        """How many times as good Steelyard is in a block; above 1 is better, whatever the unit."""
        ratio = self.of_process(block["steelyard"]) / self.of_process(block[name])
        return ratio if self.unit == "tok/s" else 1 / ratio


class Comparison(NamedTuple):
    """A metric over all blocks; the interval holds 95 % and is absent for a single block."""

    metric: Metric
    peer: float
    steelyard: float
    ratio: float
    interval: tuple[float, float] | None


def compare(metric: Metric, blocks: list[dict[str, Document]], name: str) -> Comparison:
    """Medians of all values; the geometric mean of the blocks' ratios with Student's interval of their logarithms."""
    logs = [math.log(metric.ratio(block, name)) for block in blocks]
    mean = statistics.fmean(logs)
    interval = None
    if len(logs) > 1:
        half = STUDENT[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs))
        interval = (math.exp(mean - half), math.exp(mean + half))
    medians = [
        statistics.median(v for block in blocks for v in metric.values(block[side])) for side in (name, "steelyard")
    ]
    return Comparison(metric, *medians, math.exp(mean), interval)


def fresh(program: list[str], options: argparse.Namespace, trials: int) -> Document:
    """The document of a fresh process."""
    numbers = {"--prompt": options.prompt, "--gen": options.gen, "--threads": options.threads, "--trials": trials}
    command = [sys.executable, str(HERE / program[0]), *program[1:], "--model", str(options.model)]
    command += [text for option, number in numbers.items() for text in (option, str(number))]
    environment = os.environ | {peer.STARTED: str(time.monotonic_ns())}
    process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if process.returncode:
        sys.exit(process.stderr.strip() or f"{program[0]} ended with {process.returncode}")
    return json.loads(process.stdout)


def measure(options: argparse.Namespace) -> list[dict[str, Document]]:
    """Blocks of one process of each side, in alternating order.

    One of each comes first and doesn't count: it fills the page cache and the compiler's cache.
    """
    sides = {options.peer: PEERS[options.peer], "steelyard": ["steelyard_peer.py"]}
    for name, program in sides.items():
        print(f"first {name} (not counted) …", file=sys.stderr)
        fresh(program, options, 0)
    blocks = []
    for number in range(options.blocks):
        order = list(sides) if number % 2 == 0 else list(reversed(sides))
        print(f"block {number + 1} of {options.blocks}: {', '.join(order)} …", file=sys.stderr)
        blocks.append({name: fresh(sides[name], options, options.trials) for name in order})
    return blocks


def same_tokens(blocks: list[dict[str, Document]], name: str) -> str:
    """In words, how far the greedy tokens of both agree."""
    first, second = blocks[0][name], blocks[0]["steelyard"]
    nexts = [a == b for a, b in zip(first["next_tokens"], second["next_tokens"])]
    lengths = []
    for a, b in zip(first["generated"], second["generated"]):
        lengths.append(next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), len(a)))
    return (
        f"Same token after a prompt: {sum(nexts)} of {len(nexts)}. Same tokens until two generations part: "
        f"{', '.join(map(str, lengths))} of {len(first['generated'][0])}."
    )


def table(comparisons: list[Comparison], name: str) -> str:
    """The comparisons in columns."""
    rows = [("metric", name, "steelyard", "unit", "ratio", "95 % interval")]
    for c in comparisons:
        interval = f"[{c.interval[0]:.3g}, {c.interval[1]:.3g}]" if c.interval else "needs 2 blocks"
        medians = f"{c.peer:,.4g}", f"{c.steelyard:,.4g}"
        rows.append((c.metric.name, *medians, c.metric.unit, f"{c.ratio:.3g}×", interval))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def arguments() -> argparse.Namespace:
    parser = peer.parser("Compares Steelyard with another engine: fresh processes of both in turn.")
    parser.add_argument("--peer", choices=PEERS, required=True, default=argparse.SUPPRESS, help="the other engine")
    parser.add_argument("--blocks", type=peer.at_least(1), default=3, metavar="N", help="processes of each side")
    parser.add_argument("--json", action="store_true", help="print all that was measured as JSON")
    options = parser.parse_args()
    if options.blocks > MOST_BLOCKS:
        parser.error(f"argument --blocks: {options.blocks} are too many: at most {MOST_BLOCKS}")
    if options.trials == 0:
        parser.error("argument --trials: a comparison needs at least 1")
    return options


def main() -> None:
    options = arguments()
    try:
        steelyard_peer.build()
    except peer.PeerError as e:
        sys.exit(f"against.py: {e}")
    blocks = measure(options)
    pp, tg = f"pp{options.prompt}", f"tg{options.gen}"
    metrics = [
        Metric(pp, f"{pp}_tok_s", 1, "tok/s"),
        Metric(tg, f"{tg}_tok_s", 1, "tok/s"),
        Metric("coldstart", "coldstart_s", 1e3, "ms"),
        Metric("load", "load_s", 1e3, "ms"),
        Metric("memory", "peak_bytes", 1e-6, "MB"),
    ]
    comparisons = [compare(metric, blocks, options.peer) for metric in metrics]
    if options.json:
        rows = [c._asdict() | {"metric": c.metric.name, "unit": c.metric.unit} for c in comparisons]
        print(json.dumps({"peer": options.peer, "metrics": rows, "blocks": blocks}, indent=1))
        return
    first_calls = statistics.median(block[options.peer]["first_call_s"] for block in blocks)
    print(table(comparisons, options.peer))
    print(f"\nA ratio above 1 says that Steelyard is better, whatever the unit. Blocks: {len(blocks)}.")
    print(same_tokens(blocks, options.peer))
    print(f"The first call of {options.peer}, 32 tokens with whatever it compiles, took {first_calls:.3g} s.")


if __name__ == "__main__":
    main()
