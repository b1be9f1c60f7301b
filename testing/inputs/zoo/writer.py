"""A few lines that write PDFs exactly as told, right or wrong."""

import zlib


class Pdf:
    """Objects are bytes. `put` and `stream` append objects to `out`; `table` and `xref_stream` end a revision."""

    def __init__(self, header=b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", junk=b"", base=None):
        self.out = bytearray(junk + header)
        self.base = len(junk) if base is None else base
        self.offsets = {}
        self.compressed = {}
        self.prev = None
        self.earlier = 1

    def put(self, num, body, gen=0):
        """Writes an object at the end of the file."""
        self.offsets[num] = (len(self.out) - self.base, gen)
        self.out += b"%d %d obj\n%s\nendobj\n" % (num, gen, body)

    def stream(self, num, entries, data):
        self.put(num, b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data))

    def object_stream(self, num, members, extra=b""):
        """Writes the members, {number: body}, as one compressed object stream."""
        head, bodies = b"", b""
        for index, (member, body) in enumerate(members.items()):
            head += b"%d %d " % (member, len(bodies))
            bodies += body + b"\n"
            self.compressed[member] = (num, index)
        data = zlib.compress(head + bodies)
        entries = b"/Type/ObjStm/N %d/First %d/Filter/FlateDecode" % (len(members), len(head))
        self.stream(num, entries + extra, data)

    def size(self):
        """One more than any object number so far."""
        return max([*self.offsets, *self.compressed, self.earlier - 1]) + 1

    def table(self, trailer=b"/Root 1 0 R", eol=b" \n", prev=None, size=None, free=(), end=b"%%EOF\n"):
        """Ends the revision with a classic table. Objects in object streams are listed as free (hybrid files)."""
        at = len(self.out) - self.base
        rows = {0: b"0000000000 65535 f"} if self.prev is None else {}
        rows.update({num: b"%010d %05d n" % place for num, place in self.offsets.items()})
        rows.update({num: b"0000000000 65535 f" for num in [*self.compressed, *free]})
        self.out += b"xref\n"
        numbers = sorted(rows)
        for i, num in enumerate(numbers):
            if i == 0 or numbers[i - 1] != num - 1:
                run = 1
                while num + run in rows:
                    run += 1
                self.out += b"%d %d\n" % (num, run)
            self.out += rows[num] + eol
        self.end(at, trailer, prev, size, end)

    def end(self, at, trailer, prev=None, size=None, end=b"%%EOF\n"):
        prev = self.prev if prev is None else prev
        entries = b"/Size %d%s" % (self.size() if size is None else size, trailer)
        if prev is not None:
            entries += b"/Prev %d" % prev
        self.out += b"trailer\n<<%s>>\nstartxref\n%d\n%s" % (entries, at, end)
        self.next(at)

    def xref_stream(
        self, trailer=b"/Root 1 0 R", num=None, predictor=None, prev=None, startxref=True, only=None, widths=(1, 4, 2)
    ):
        """Ends the revision with a cross-reference stream; predictor 10 to 15 as PNG has them."""
        num = self.size() if num is None else num
        at = len(self.out) - self.base
        self.offsets[num] = (at, 0)
        rows = {0: (0, 0, 65535)} if self.prev is None and only is None else {}
        rows.update({n: (1, *place) for n, place in self.offsets.items() if only is None or n in only})
        rows.update({n: (2, *place) for n, place in self.compressed.items()})
        data, previous, kind = b"", bytes(sum(widths)), 0
        for n in sorted(rows):
            row = b"".join(value.to_bytes(width, "big") for value, width in zip(rows[n], widths))
            if predictor is None:
                data += row
            else:
                kind = predictor - 10 if predictor < 15 else (kind + 1) % 5
                data += bytes([kind]) + filtered(kind, row, previous)
                previous = row
        index = b" ".join(b"%d 1" % n for n in sorted(rows))
        shape = b"%d/W[%s]/Index[%s]" % (self.size(), b" ".join(b"%d" % width for width in widths), index)
        entries = b"/Type/XRef/Size %s/Filter/FlateDecode%s" % (shape, trailer)
        prev = self.prev if prev is None else prev
        if prev is not None:
            entries += b"/Prev %d" % prev
        if predictor is not None:
            entries += b"/DecodeParms<</Predictor %d/Columns %d>>" % (predictor, sum(widths))
        packed = zlib.compress(data)
        self.out += b"%d 0 obj\n<<%s/Length %d>>\nstream\n%s\nendstream\nendobj\n" % (num, entries, len(packed), packed)
        if startxref:
            self.out += b"startxref\n%d\n%%%%EOF\n" % at
            self.next(at)
        return at

    def next(self, at):
        """Begins the next revision: earlier objects are listed by the earlier section."""
        self.prev = at
        self.earlier = self.size()
        self.offsets, self.compressed = {}, {}


def filtered(kind, row, previous):
    out = bytearray()
    for i, value in enumerate(row):
        left = row[i - 1] if i else 0
        up = previous[i]
        corner = previous[i - 1] if i else 0
        if kind == 4:
            estimate = left + up - corner
            distances = [(abs(estimate - left), 0, left), (abs(estimate - up), 1, up), (abs(estimate - corner), 2, corner)]
            guess = min(distances)[2]
        else:
            guess = [0, left, up, (left + up) // 2][kind]
        out.append((value - guess) % 256)
    return bytes(out)
