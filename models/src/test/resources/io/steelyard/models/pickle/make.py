"""Writes files as torch.save does, without torch: Python's own pickler writes the pickle (protocol 2), with stand-ins
that have the names of torch's classes. Usage: make.py FOLDER, with ../safetensors beside this script.

qwen3-bf16.bin          the weights of ../safetensors/qwen3-bf16 in one file
qwen3-bf16-0000N.bin    the same in two files
types.bin               a storage of each type, shared storages, a parameter, a scalar, a dictionary with attributes
"""

import io
import json
import pathlib
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict

HERE = pathlib.Path(__file__).parent
STORAGES = dict(F64="Double", F32="Float", F16="Half", BF16="BFloat16", I64="Long", I32="Int", I16="Short", I8="Char", U8="Byte", BOOL="Bool")
SIZES = dict(F64=8, F32=4, F16=2, BF16=2, I64=8, I32=4, I16=2, I8=1, U8=1, BOOL=1)

torch = sys.modules["torch"] = types.ModuleType("torch")
utils = sys.modules["torch._utils"] = types.ModuleType("torch._utils")
for name in STORAGES.values():
    setattr(torch, name + "Storage", type(name + "Storage", (), {"__module__": "torch"}))


def _rebuild_tensor_v2():
    pass


def _rebuild_parameter():
    pass


for function in (_rebuild_tensor_v2, _rebuild_parameter):
    function.__module__ = "torch._utils"
    setattr(utils, function.__name__, function)


class Storage:
    def __init__(self, kind, data):
        self.kind, self.data = kind, data


class Tensor:
    def __init__(self, storage, shape, offset=0, strides=None):
        self.storage, self.shape, self.offset, self.strides = storage, tuple(shape), offset, strides
        if strides is None:
            step, self.strides = 1, ()
            for size in reversed(self.shape):
                self.strides = (step,) + self.strides
                step *= max(size, 1)

    def __reduce_ex__(self, protocol):
        return utils._rebuild_tensor_v2, (self.storage, self.offset, self.shape, self.strides, False, OrderedDict())


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce_ex__(self, protocol):
        return utils._rebuild_parameter, (self.tensor, True, OrderedDict())


def save(path, state, protocol=2):
    storages = {}

    class Pickler(pickle._Pickler):
        def persistent_id(self, value):
            if not isinstance(value, Storage):
                return None
            key = storages.setdefault(id(value), (str(len(storages)), value))[0]
            count = len(value.data) // SIZES[value.kind]
            return "storage", getattr(torch, STORAGES[value.kind] + "Storage"), key, "cpu", count

    buffer = io.BytesIO()
    Pickler(buffer, protocol).dump(state)
    prefix = path.stem
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:

        def add(name, data):
            info = zipfile.ZipInfo(prefix + "/" + name, (1980, 1, 1, 0, 0, 0))
            # Data begins at multiples of 64 bytes, by a padding in an extra field that is called FB.
            begin = archive.fp.tell() + 30 + len(info.filename) + 4
            padding = -begin % 64
            info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
            archive.writestr(info, data)

        add("data.pkl", buffer.getvalue())
        add(".format_version", b"1")
        add(".storage_alignment", b"64")
        add("byteorder", b"little")
        for key, storage in storages.values():
            add("data/" + key, storage.data)
        add("version", b"3\n")
        add(".data/serialization_id", b"0" * 40)


def weights(path):
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    start = 8 + int.from_bytes(data[:8], "little")
    header.pop("__metadata__", None)
    state = OrderedDict()
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        state[name] = Tensor(Storage(entry["dtype"], data[start + begin : start + end]), entry["shape"])
    state._metadata = OrderedDict([("", {"version": 1})])
    return state


def main(out):
    state = weights(HERE / "../safetensors/qwen3-bf16/model.safetensors")
    save(out / "qwen3-bf16.bin", state)
    names = list(state)
    for part in range(2):
        half = names[part * len(names) // 2 : (part + 1) * len(names) // 2]
        save(out / f"qwen3-bf16-{part + 1:05}.bin", OrderedDict((name, state[name]) for name in half))
    state = {}
    for kind, size in SIZES.items():
        state[kind] = Tensor(Storage(kind, bytes(range(size * 6))), (2, 3))
    shared = Storage("F32", struct.pack("<8f", *range(8)))
    state["whole"] = Tensor(shared, (8,))
    state["tied"] = Tensor(shared, (2, 4))
    state["second half"] = Tensor(shared, (1, 4), 4, (99, 1))
    state["scalar"] = Tensor(shared, (), 3)
    state["empty"] = Tensor(Storage("F32", b""), (0, 4))
    state["parameter"] = Parameter(Tensor(Storage("F16", bytes(4)), (2,)))
    save(out / "types.bin", state)
    save(out / "types-protocol4.bin", state, 4)


main(pathlib.Path(sys.argv[1]))
