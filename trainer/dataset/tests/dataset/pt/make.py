#!/usr/bin/env python3
"""Makes the .pt files beside it, without torch: `python3 make.py`.

The pickle comes from Python's own pickler, fed with objects that reduce to what torch's reduce to, so its opcodes are those
of torch.save: protocol 2, a storage as a persistent id, a tensor as a call of torch._utils._rebuild_tensor_v2. The zip file
is laid out as torch 2 does: a folder named after the file, members stored, their data at multiples of 64 bytes by means of
an extra field 'FB', sizes behind the data, and 0 as the version that a reader needs.
"""
import io
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

HERE = Path(__file__).parent
FORMATS = {"FloatStorage": "f", "DoubleStorage": "d", "HalfStorage": "e", "LongStorage": "q", "IntStorage": "i",
           "ShortStorage": "h", "ByteStorage": "B", "BFloat16Storage": None}

# What the pickler looks up to name it.
torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
utils._rebuild_tensor_v2 = lambda *args: None
utils._rebuild_tensor_v2.__module__ = "torch._utils"
utils._rebuild_tensor_v2.__qualname__ = utils._rebuild_tensor_v2.__name__ = "_rebuild_tensor_v2"
for name in FORMATS:
    setattr(torch, name, type(name, (), {"__module__": "torch"}))
sys.modules.update({"torch": torch, "torch._utils": utils})


class Storage:
    def __init__(self, kind, values):
        self.kind, self.elements = kind, len(values)
        if kind == "BFloat16Storage":
            self.bytes = b"".join(struct.pack("<f", value)[2:] for value in values)
        else:
            self.bytes = struct.pack(f"<{len(values)}{FORMATS[kind]}", *values)


class Tensor:
    def __init__(self, storage, shape, strides=None, offset=0):
        if strides is None:
            strides = (shape[1], 1) if len(shape) == 2 else (1,) * len(shape)
        self.args = (storage, offset, tuple(shape), tuple(strides), False, OrderedDict())

    def __reduce__(self):
        return utils._rebuild_tensor_v2, self.args


class Stream:
    """Cannot be sought in, so zipfile writes sizes behind the data."""

    def __init__(self):
        self.bytes = bytearray()

    def write(self, data):
        self.bytes += data
        return len(data)

    def flush(self):
        pass


class Pickler(pickle.Pickler):
    def __init__(self, out):
        super().__init__(out, protocol=2)
        self.storages = []

    def persistent_id(self, thing):
        if not isinstance(thing, Storage):
            return None
        if thing not in self.storages:
            self.storages.append(thing)
        return "storage", getattr(torch, thing.kind), str(self.storages.index(thing)), "cpu", thing.elements


def save(name, content):
    data = io.BytesIO()
    pickler = Pickler(data)
    pickler.dump(content)
    members = [("data.pkl", data.getvalue()), (".format_version", b"1"), (".storage_alignment", b"64"),
               ("byteorder", b"little")]
    members += [(f"data/{i}", storage.bytes) for i, storage in enumerate(pickler.storages)]
    members += [("version", b"3\n"), (".data/serialization_id", b"0" * 40)]
    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for member, content in members:
            info = zipfile.ZipInfo(f"{name}/{member}")
            head = archive.fp.tell() + 30 + len(info.filename) + 4
            padding = -head % 64
            info.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
            archive.writestr(info, content)
    for signature, version in (b"PK\x03\x04", 4), (b"PK\x01\x02", 6):
        at = -1
        while (at := stream.bytes.find(signature, at + 1)) >= 0:
            stream.bytes[at + version:at + version + 2] = b"\0\0"
    (HERE / f"{name}.pt").write_bytes(stream.bytes)


x = [0.5 * i - 1 for i in range(12)]
save("plain", {"x": Tensor(Storage("FloatStorage", x), (4, 3)), "y": Tensor(Storage("LongStorage", [0, 2, 1, -1]), (4,)),
               "num_classes": 5})
# x by columns and y by every second element, in storages of which they are a part; y of one column.
save("strided", {"x": Tensor(Storage("HalfStorage", [9.0, *(x[3 * (i % 4) + i // 4] for i in range(12)), 9.0]), (4, 3), (1, 4), 1),
                 "y": Tensor(Storage("IntStorage", [7, 0, 7, 2, 7, 1, 7, 0]), (4, 1), (2, 1), 1)})
save("small", {"x": Tensor(Storage("BFloat16Storage", x), (4, 3)), "y": Tensor(Storage("ByteStorage", [0, 2, 1, 0]), (4,)),
               "num_classes": Tensor(Storage("ShortStorage", [3]), ())})
# One storage for both, y a column of x.
both = Storage("DoubleStorage", [value for i in range(4) for value in (*x[3 * i: 3 * i + 3], i % 3)])
save("shared", {"x": Tensor(both, (4, 3), (4, 1)), "y": Tensor(both, (4,), (4,), 3), "num_classes": 3})
