"""Writes golden.json: what a GGUF file holds, from the file alone. Usage: golden.py FILE.gguf > golden.json"""

import hashlib
import json
import struct
import sys

TYPES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
NAMES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array", "uint64", "int64", "float64"]
TENSOR_TYPES = {0: ("F32", 4), 1: ("F16", 2), 30: ("BF16", 2)}

data = open(sys.argv[1], "rb").read()
at = 8


def number(form):
    global at
    value = struct.unpack_from("<" + form, data, at)[0]
    at += struct.calcsize("<" + form)
    return value


def string():
    global at
    length = number("Q")
    at += length
    return data[at - length : at].decode()


def value(kind):
    if kind == 8:
        return string()
    if kind == 9:
        inner = number("I")
        return [value(inner) for _ in range(number("Q"))]
    return number(TYPES[kind])


count, entries = number("Q"), number("Q")
metadata = {}
for _ in range(entries):
    key = string()
    kind = number("I")
    metadata[key] = [NAMES[kind], value(kind)]
tensors = []
for _ in range(count):
    name = string()
    shape = [number("Q") for _ in range(number("I"))]
    tensors.append((name, shape, number("I"), number("Q")))
start = -(-at // 32) * 32
rows = []
for name, shape, kind, offset in tensors:
    type_name, size = TENSOR_TYPES[kind]
    for dimension in shape:
        size *= dimension
    content = data[start + offset : start + offset + size]
    rows.append([name, type_name, shape, hashlib.sha256(content).hexdigest()])
json.dump({"metadata": metadata, "tensors": rows}, sys.stdout, ensure_ascii=False, separators=(",", ":"))
print()
