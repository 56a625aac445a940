#!/usr/bin/env python3
"""Writes what Jinja makes of the templates here: conformance.json and families.json.

Needs jinja2 (the files were made with 3.1.6), set up as Hugging Face transformers sets it up.
Run it here after a change to a template, to the conversations or to the cases.
"""
import datetime
import json
import pathlib

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
NOW = datetime.datetime(2024, 7, 26, 14, 5, 9)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


def render(template, variables):
    try:
        return {"text": environment().from_string(template).render(**variables)}
    except Exception as e:
        return {"refused": f"{type(e).__name__}: {e}"}


def write(name, document):
    text = json.dumps(document, ensure_ascii=True, indent=1)
    (HERE / name).write_text(text + "\n")


conformance = json.loads((HERE / "conformance.json").read_text())
conformance["cases"] = [
    {"template": case["template"]} | render(case["template"], conformance["variables"])
    for case in conformance["cases"]
]
write("conformance.json", conformance)

conversations = json.loads((HERE / "conversations.json").read_text())
write(
    "families.json",
    {
        path.name: [render(path.read_text(), variables) for variables in conversations]
        for path in sorted(HERE.glob("*.jinja"))
    },
)
