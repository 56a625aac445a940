#!/usr/bin/env python3
"""A toy engine for Steelyard: a bigram model of bytes. Any file is a model."""
import array, json, os, sys, time

protocol = os.fdopen(os.dup(1), "w")  # Whatever prints to standard output from here on,
os.dup2(2, 1)  # native libraries included, goes to standard error.
model, context = [], 0
def send(message): print(json.dumps(message), file=protocol, flush=True)
def likeliest(id): return max(range(256), key=model[id].__getitem__)  # ties: the lowest id

def check(ids, more=0):
    if not model: raise ValueError("no model is loaded: call 'load' first")
    if not ids or min(ids) < 0 or max(ids) > 255: raise ValueError("ids must be from 0 to 255")
    if len(ids) + more > context: raise ValueError(f"the context holds {context} positions")

def load(q):
    global model, context; start, context = time.perf_counter_ns(), q["context"]
    model = [array.array("f", [0]) * 256 for _ in range(256)]
    with open(q["model"], "rb") as file: data = file.read(1 << 20)
    for first, second in zip(data, data[1:]): model[first][second] += 1
    return dict(phases={"load": time.perf_counter_ns() - start}, bytes={"weights": 4 * 65536},
        libraries=[], settings=dict(weights="f32", kv="none", activations="f32", threads=1, affinity="",
            batch=context, context=context, flash_attention=False, vocabulary=256, layers=1, parameters=65536))

def logits(q):
    check(q["ids"])
    with open(q["file"], "wb") as file: [model[id].tofile(file) for id in q["ids"]]  # a row of float32 a position
    return dict(rows=len(q["ids"]), width=256)

def prefill(q):
    check(q["ids"])
    if not 0 <= q["depth"] < len(q["ids"]): raise ValueError("the depth leaves nothing to do")
    start = time.perf_counter_ns()  # What comes before the depth is processed before this line.
    return dict(argmax=likeliest(q["ids"][-1]), nanos=time.perf_counter_ns() - start)

def decode(q):
    check(q["ids"], q["tokens"] - 1); how = q["sampling"]
    if how["temperature"] or how["penalties"]["last"]: raise NotImplementedError("this engine is always greedy")
    id, ids, nanos, margins, start = q["ids"][-1], [], [], [], time.perf_counter_ns()
    while len(ids) < q["tokens"] and not (ids and id in q["stop"]):
        second, first = sorted(model[id])[-2:]; id = likeliest(id)
        ids.append(id), nanos.append(time.perf_counter_ns() - start), margins.append(first - second)
        if q["stream"]: send(dict(id=q["id"], event={"token": id}))
    return dict(ids=ids, nanos=nanos, margins=margins if q["margins"] else [])

calls = dict(load=load, logits=logits, prefill=prefill, decode=decode, reset=lambda q: {}, close=lambda q: {},
    hello=lambda q: dict(engine="bigram", version="1", backend="python", libraries=[], precisions=["f32"],
        capabilities=[], hosted=False, build="1"),
    memory=lambda q: dict(parts={}), tokenize=lambda q: dict(ids=list(q["text"].encode())))
for line in sys.stdin:
    id, call = 0, ""
    try:
        q = json.loads(line); id, call = q["id"], q["call"]
        if call not in calls: raise NotImplementedError(f"there is no call '{call}'")
        send(dict(id=id, ok=calls[call](q)))
    except Exception as e:
        wrong = "bad-request" if isinstance(e, (ValueError, KeyError, TypeError)) else "failed"
        kind = "unsupported" if isinstance(e, NotImplementedError) else wrong
        send(dict(id=id, error=dict(kind=kind, message=str(e))))
    if call == "close": break
