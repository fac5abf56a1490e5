"""Writes C3D files, by the C3D file format user guide alone: block layout, the three processors, integers and floats.

Input, JSON: a list of files, each {processor: intel|dec|sgi, real: bool, scale, rate, units, names, points: [frame][point] of
[x, y, z] or null, analog: [frame][sample][channel] of raw counts, samples, ascale, aoffset, gen_scale, unsigned, first,
frames: int|float|long|trial|wrapped (how the number of frames is stored), events: [[minutes, seconds, name]], params_at: block,
repeat: how often the frames come again, head_channels, used_channels: analog channels that the header and ANALOG:USED name,
quantities: {list of POINT: [names]}, quantity_units: {parameter of POINT: unit}}.
Output, JSON: a list of files in base64.
"""
import base64, json, struct, sys

KEYS = {"intel": 84, "dec": 85, "sgi": 86}


def main():
    json.dump([base64.b64encode(write(f)).decode() for f in json.load(sys.stdin)], sys.stdout)


def write(f):
    order = ">" if f["processor"] == "sgi" else "<"

    def real(x):
        if f["processor"] != "dec":
            return struct.pack(order + "f", x)
        if x == 0:
            return bytes(4)
        b = struct.pack(">f", 4 * x)  # the exponent of a VAX is larger by two; its words come in the order of the PDP-11
        return bytes([b[1], b[0], b[3], b[2]])

    def word(i):
        return struct.pack(order + "H", i & 0xFFFF)

    frames = f["points"] * f.get("repeat", 1)
    npoint = len(f["names"])
    samples = f.get("samples", 0)
    nanalog = len(f["ascale"]) if samples else 0
    first = f.get("first", 1)
    scale = -f["scale"] if f["real"] else f["scale"]

    def record(name, number, body):
        # the pointer counts from itself to the next record
        return struct.pack("bb", len(name), number) + name.encode(), body

    def param(group, name, kind, dims, data, locked=False):
        body = struct.pack("bB", kind, len(dims)) + bytes(dims) + data + bytes([4]) + b"note"
        return struct.pack("bb", -len(name) if locked else len(name), group) + name.encode() + word(len(body) + 2) + body

    def group(number, name):
        return struct.pack("bb", len(name), -number) + name.encode() + word(2 + 1) + bytes([0])

    def letters(group, name, texts):
        width = max([len(t) for t in texts] + [1])
        return param(group, name, -1, [width, len(texts)], b"".join(t.ljust(width).encode() for t in texts))

    n = len(frames)
    how = f.get("frames", "int")
    p = group(1, "POINT") + group(2, "ANALOG") + group(3, "TRIAL") + group(4, "EVENT")
    p += param(1, "USED", 2, [], word(npoint), True)
    p += param(1, "SCALE", 4, [], real(scale))
    p += param(1, "RATE", 4, [], real(f["rate"]))
    p += param(1, "FRAMES", 4, [], real(n)) if how == "float" else param(1, "FRAMES", 2, [], word(n if how == "wrapped" else min(n, 65535)))
    if how == "long":
        p += param(1, "LONG_FRAMES", 4, [], real(n))
    if how == "trial":
        last = first + n - 1
        p += param(3, "ACTUAL_START_FIELD", 2, [2], word(first) + word(first >> 16))
        p += param(3, "ACTUAL_END_FIELD", 2, [2], word(last) + word(last >> 16))
    if f.get("units"):
        p += param(1, "UNITS", -1, [len(f["units"])], f["units"].encode())
    p += letters(1, "LABELS", f["names"][:255])
    if npoint > 255:
        p += letters(1, "LABELS2", f["names"][255:])
    for name, texts in (f.get("quantities") or {}).items():
        p += letters(1, name, texts)
    for name, text in (f.get("quantity_units") or {}).items():
        p += param(1, name, -1, [len(text)], text.encode())
    if nanalog:
        p += param(2, "USED", 2, [], word(f.get("used_channels") or nanalog))
        p += param(2, "RATE", 4, [], real(f["rate"] * samples))
        p += param(2, "GEN_SCALE", 4, [], real(f["gen_scale"]))
        p += param(2, "SCALE", 4, [nanalog], b"".join(map(real, f["ascale"])))
        p += param(2, "OFFSET", 2, [nanalog], b"".join(map(word, f["aoffset"])))
        p += letters(2, "LABELS", ["F%d" % (j + 1) for j in range(nanalog)])
        p += letters(2, "UNITS", ["N"] * nanalog)
        text = b"UNSIGNED" if f.get("unsigned") else b"SIGNED"
        p += param(2, "FORMAT", -1, [len(text)], text)
    events = f.get("events", [])
    if events:
        p += param(4, "USED", 2, [], word(len(events)))
        p += param(4, "TIMES", 4, [2, len(events)], b"".join(real(m) + real(s) for m, s, _ in events))
        p += letters(4, "LABELS", [e[2] for e in events])
    at = f.get("params_at", 2)
    blocks = (4 + len(p) + 2 + 511) // 512
    data_at = at + blocks
    params = bytes([1, 0x50, blocks, KEYS[f["processor"]]]) + p + bytes(2)

    head = bytes([at, 0x50]) + word(npoint) + word((f.get("head_channels") or nanalog) * samples) + word(first) + word(first + n - 1 if how == "wrapped" else min(first + n - 1, 65535)) + word(10)
    head += real(scale) + word(data_at) + word(samples) + real(f["rate"])

    out = head.ljust(512, b"\0").ljust(512 * (at - 1), b"\xff") + params.ljust(512 * blocks, b"\0")
    body = bytearray()
    for k, frame in enumerate(frames):
        for x in frame:
            if f["real"]:
                body += b"".join(map(real, x or [0, 0, 0])) + real(257.0 if x else -1.0)  # camera 1, residual 1
            elif x:
                body += b"".join(word(round(c / f["scale"])) for c in x) + word(257)
            else:
                body += word(0) * 3 + word(-1)
        for sample in f["analog"][k] if samples else []:
            body += b"".join(real(c) if f["real"] else word(c) for c in sample)
    return out + bytes(body) + bytes(-len(body) % 512)


main()
