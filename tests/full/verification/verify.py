"""A second verifier of exports with proof. Its only source is .github/guides/audit-proof.md; it shares no code.

python3 verify.py vectors FILE             checks the test vectors in FILE
python3 verify.py verify FILE [OWNER]      checks an export, and prints the result and what is wrong or open
"""

import base64
import functools
import hashlib
import json
import math
import re
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal


# I-JSON: no duplicate names in an object, only numbers that a double represents exactly, and only Unicode text

class NotIJson(ValueError):
    pass


def members(pairs):
    names = dict(pairs)
    if len(names) < len(pairs):
        raise NotIJson("an object has one name twice")
    return names


def exact(literal):
    double = float(literal)
    if not math.isfinite(double) or Decimal(repr(double)) != Decimal(literal):
        raise NotIJson("a double does not keep " + literal)
    return double


NONCHARACTERS = "".join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xfffe, 0xffff))
FORBIDDEN = re.compile("[\ud800-\udfff\ufdd0-\ufdef" + NONCHARACTERS + "]")


def i_json(text):
    value = json.loads(text, object_pairs_hook=members, parse_int=exact, parse_float=exact)
    if FORBIDDEN.search(json.dumps(value, ensure_ascii=False)):
        raise NotIJson("a text has half of a surrogate pair or a noncharacter")
    return value


# Canonical JSON: RFC 8785

def canonical(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number(float(value))
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(string(name) + ":" + canonical(value[name]) for name in names) + "}"


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def string(text):
    def escaped(character):
        if character in SHORT:
            return SHORT[character]
        if character < " ":
            return "\\u%04x" % ord(character)
        return character

    return '"' + "".join(escaped(character) for character in text) + '"'


def number(value):
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "null"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits + "0" * (point - len(digits))
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = "e%+d" % (point - 1)
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + power


def sha256(data):
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).digest()


# Shapes: every field is named here, and no other one is accepted

class Wrong(ValueError):
    pass


def shape(value, /, **fields):
    """Checks the fields of an object. The name of an optional field ends with an underscore."""
    if not isinstance(value, dict):
        raise Wrong("not an object")
    names = {name.rstrip("_"): (check, name.endswith("_")) for name, check in fields.items()}
    for name, item in value.items():
        if name not in names or not names[name][0](item):
            raise Wrong("field %s" % name)
    for name, (_, is_optional) in names.items():
        if name not in value and not is_optional:
            raise Wrong("no field %s" % name)
    return True


def matching(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def or_null(check):
    return lambda value: value is None or check(value)


def list_of(check):
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def whole(least):
    return lambda value: isinstance(value, float) and least <= value < 2**53 and value == int(value)


def inner(**fields):
    return lambda value: shape(value, **fields)


def time(value):
    return matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")(value) and time_of(value) is not None


def time_of(text):
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def text(value):
    return isinstance(value, str)


HASH = matching("[0-9a-f]{64}")
HASHES = list_of(HASH)
MONTH = matching("20[0-9]{2}-(0[1-9]|1[0-2])")
PLACE = dict(position=whole(1), salt=matching("[0-9a-f]{32}"), chain=HASH)
RUN = dict(**{"from": whole(1)}, to=whole(1), chain=HASH)
MAP = inner(path=HASHES, other_=inner(key=HASH, value=HASH))
LEAF = inner(number=whole(0), sealed_at=time, map=HASH)
TYPES = ("jwt", "user_apikey", "member_apikey", "member_session")
OUTCOMES = ("pending", "rejected", "responded", "no_response")
EVENT = dict(
    id=matching("[0-7][0-9A-HJKMNP-TV-Z]{25}"), occurred_at=time, request_id=text, organization_id=or_null(text),
    actor=inner(member_id=or_null(text), auth_type=lambda value: value in TYPES, key_prefix=or_null(text)),
    service=text, method=text, route=text, params=lambda value: isinstance(value, dict) and all(map(text, value.values())),
    ip=text, user_agent=or_null(text), outcome=lambda value: value in OUTCOMES,
    status=or_null(lambda value: whole(100)(value) and value < 600), details=or_null(lambda value: isinstance(value, dict)),
    created_id=or_null(text),
    proof=inner(intent=inner(**PLACE), outcome=or_null(inner(**PLACE, intent_member_id_=or_null(text)))),
)
END = dict(
    format=lambda value: value == 1, head=inner(owner=text, position=whole(0), chain=HASH), map=MAP, leaf=or_null(LEAF),
    path=HASHES, note=or_null(text), cosigned_=inner(note=text, consistency=HASHES),
    heads=list_of(inner(leaf=LEAF, path=HASHES, position=whole(0), chain=HASH, map=MAP,
                        tree_=inner(root=HASH, consistency=HASHES))),
    retention_=lambda value: isinstance(value, list) and len(value) > 0 and all(remainder(item) for item in value),
    keys=list_of(text),
)


def remainder(item):
    kind = item.get("kind") if isinstance(item, dict) else None
    named = dict(kind=text)
    if kind == "retention":
        return shape(item, **named, **PLACE, month=MONTH, declared_at=time)
    if kind == "restart":
        return shape(item, **named, **PLACE, **{"from": whole(1)}, declared_at=time)
    if kind == "dropped" and "contents" in item:
        return shape(item, **named, **RUN, month=MONTH, contents=HASHES)
    return kind in ("dropped", "lost") and shape(item, **named, **RUN)


# Entries

INTENT = "id occurred_at request_id service method route params ip user_agent".split()
OUTCOME = "id request_id outcome status details created_id".split()


def contents(event):
    """Yields the place and the content of the entries of an event."""
    intent, outcome = event["proof"]["intent"], event["proof"]["outcome"]
    named = outcome is not None and "intent_member_id" in outcome
    content = {name: event[name] for name in INTENT}
    content.update(kind="intent", salt=intent["salt"], actor=dict(event["actor"]))
    content["organization_id"] = None if named else event["organization_id"]
    if named:
        content["actor"]["member_id"] = outcome["intent_member_id"]
    if "user_id" in event:
        content["user_id"] = event["user_id"]
    yield intent, content
    if outcome is not None:
        content = {name: event[name] for name in OUTCOME}
        content.update(kind="outcome", salt=outcome["salt"])
        content["organization_id"] = event["organization_id"] if named else None
        content["member_id"] = event["actor"]["member_id"] if named else None
        yield outcome, content


def entry_hash(content, month):
    return sha256(canonical({"content": content.hex(), "month": month}))


# The tree: RFC 6962

def root_by_path(hash, index, size, path):
    """Returns the root that follows from a leaf and its path, or None if the path has the wrong length."""
    if size == 1:
        return hash if not path and index == 0 else None
    if not path:
        return None
    left = 1
    while left * 2 < size:
        left *= 2
    other = bytes.fromhex(path[-1])
    if index < left:
        below = root_by_path(hash, index, left, path[:-1])
        return below and sha256(b"\1" + below + other)
    below = root_by_path(hash, index - left, size - left, path[:-1])
    return below and sha256(b"\1" + other + below)


# The map of heads

def map_value(position, chain):
    return sha256(int(position).to_bytes(8, "big") + bytes.fromhex(chain))


def map_leaf(key, value):
    return sha256(b"\0" + key + value)


def bit(key, level):
    return key[level // 8] >> (7 - level % 8) & 1


def map_root_by_path(key, hash, path):
    for level in range(len(path) - 1, -1, -1):
        beside = bytes.fromhex(path[len(path) - 1 - level])
        hash = sha256(b"\1" + (beside + hash if bit(key, level) else hash + beside))
    return hash


def in_map(owner, position, chain, proof, root):
    """Returns whether the map contains the head. For position 0, returns whether it has no head of the owner."""
    key, path, other = sha256(owner), proof["path"], proof.get("other")
    if position > 0:
        leaf = map_leaf(key, map_value(position, chain))
        return other is None and map_root_by_path(key, leaf, path).hex() == root
    if chain != bytes(32).hex():
        return False
    leaf = bytes(32)
    if other is not None:
        beside = bytes.fromhex(other["key"])
        if beside == key or any(bit(key, level) != bit(beside, level) for level in range(len(path))):
            return False
        leaf = map_leaf(beside, bytes.fromhex(other["value"]))
    return map_root_by_path(key, leaf, path).hex() == root


# Ed25519, as in RFC 8032, section 6

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(a, b):
    c = (a[1] - a[0]) * (b[1] - b[0]) % P
    d = (a[1] + a[0]) * (b[1] + b[0]) % P
    e, f = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    g, h, i, j = d - c, f - e, f + e, d + c
    return (g * h % P, i * j % P, h * i % P, g * j % P)


def times(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def recover(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def point_of(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x = recover(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover(BASE_Y, 0), BASE_Y, 1, recover(BASE_Y, 0) * BASE_Y % P)


# Many exports have the same signatures, and each verification takes a long time in pure Python.
@functools.cache
def ed25519(key, message, signature):
    a, r = point_of(key), point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= Q:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % Q
    b, c = times(s, BASE), add(r, times(h, a))
    return (b[0] * c[2] - c[0] * b[2]) % P == 0 and (b[1] * c[2] - c[1] * b[2]) % P == 0


# Signed roots

def standard64(text):
    """Decodes base64 (RFC 4648, section 4). Returns None if the text is not canonical base64."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None


NAME = re.compile(r"[^\s+\x00-\x1f\x7f-\x9f]+")


def read_note(text):
    """Returns the text of a note and its signatures (name, key id, signature), or None if it is no note."""
    body, blank, below = text.rpartition("\n\n")
    if not blank or not below.endswith("\n") or any(ord(char) < 32 and char != "\n" for char in text):
        return None
    signatures = []
    for line in below[:-1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        data = standard64(encoded)
        if dash != "\u2014" or not NAME.fullmatch(name) or data is None or len(data) <= 4:
            return None
        signatures.append((name, data[:4], data[4:]))
    return (body + "\n", signatures) if len(signatures) <= 100 else None


def tree_head(text):
    """Returns the origin, size and root in the text of a note, or None if the text is no tree head."""
    lines = text[:-1].split("\n")
    if len(lines) < 3 or "" in lines or not re.fullmatch("0|[1-9][0-9]{0,15}", lines[1]):
        return None
    data = standard64(lines[2])
    if data is None or len(data) != 32 or int(lines[1]) > 2**53 - 1:
        return None
    return lines[0], int(lines[1]), data


def consistent(earlier, earlier_root, size, tree_root, path):
    """Returns whether a proof shows that the tree extends the earlier one (RFC 9162, section 2.1.4.2)."""
    path = [bytes.fromhex(each) for each in path]
    if earlier == 0:
        return not path and earlier_root == sha256(b"")
    if earlier >= size:
        return earlier == size and not path and earlier_root == tree_root
    if earlier & (earlier - 1) == 0:
        path = [earlier_root] + path
    if not path:
        return False
    first, second = earlier - 1, size - 1
    while first & 1:
        first, second = first >> 1, second >> 1
    before = after = path[0]
    for other in path[1:]:
        if second == 0:
            return False
        if first & 1 or first == second:
            before, after = sha256(b"\1" + other + before), sha256(b"\1" + other + after)
            while not first & 1 and first:
                first, second = first >> 1, second >> 1
        else:
            after = sha256(b"\1" + after + other)
        first, second = first >> 1, second >> 1
    return (before, after, second) == (earlier_root, tree_root, 0)


def restarted(note):
    """Returns whether the text of a root names an earlier tree."""
    read = read_note(note or "")
    line = r"restart [0-9T:.-]{23}Z (0|[1-9][0-9]{0,15}) \S+"
    return read is not None and any(re.fullmatch(line, each) for each in read[0].split("\n")[3:])


def key_of(key, kind):
    """Returns the name, hash and public key in a verifier key, or None for another text."""
    parts = key.split("+", 2)
    material = standard64(parts[2]) if len(parts) == 3 else None
    if material is None or len(material) != 33 or material[0] != kind or not NAME.fullmatch(parts[0]):
        return None
    hashed = sha256(parts[0].encode() + b"\n" + material)[:4]
    return (parts[0], hashed, material[1:]) if hashed.hex() == parts[1] else None


def is_right(message, key, signature):
    return len(signature) == 64 and ed25519(key[2], message.encode(), signature)


# The verdict

HOUR = timedelta(hours=1)


class Log:
    def __init__(self, given):
        self.given, self.wrong, self.open = given, [], []
        self.entries, self.restarts, self.given_up, self.late = {}, [], False, []

    def check(self, condition, what):
        if not condition:
            self.wrong.append(what)

    def place(self, position, hash, chain):
        self.check(position not in self.entries, "position %d is taken" % position)
        self.entries[position] = (hash, bytes.fromhex(chain))

    def events(self, events, owner):
        before, self.first = None, None
        ids = []
        for event in events:
            shape(event, **EVENT, **({"user_id": or_null(text)} if owner.startswith("user:") else {}))
            mine = "user:%s" % event["user_id"] if "user_id" in event else "organization:%s" % event["organization_id"]
            self.check(mine == owner, "an event of another owner")
            self.check(before is None or event["id"] < before, "the order of ids")
            before, outcome = event["id"], event["proof"]["outcome"]
            skew = abs(ulid_ms(event["id"]) - time_of(event["occurred_at"]).timestamp() * 1000)
            self.check(skew <= 25 * 3600_000, "the time of an event")
            pending = event["outcome"] == "pending"
            self.check(pending == (outcome is None), "an outcome without a place")
            rest = (event["status"], event["details"], event["created_id"])
            self.check(not pending or rest == (None, None, None), "a pending event with a result")
            for place, content in contents(event):
                hash = entry_hash(sha256(canonical(content)), event["occurred_at"][:7])
                self.place(int(place["position"]), hash, place["chain"])
            month = event["occurred_at"][:7]
            self.first = month if self.first is None else min(self.first, month)
            joined = outcome is not None and "intent_member_id" in outcome and "user_id" not in event
            ids.append((ulid_ms(event["id"]), int(event["proof"]["intent"]["position"]), joined))
        for ms, position, joined in ids:
            if any(other > ms + 3600_000 and at < position for other, at, _ in ids):
                self.late.append((ms, position, joined))

    def remainder(self, end):
        owner, leaf, items = end["head"]["owner"], end["leaf"], end.get("retention", [])
        sealed = datetime.min.replace(tzinfo=timezone.utc) if leaf is None else time_of(leaf["sealed_at"])
        declared = [item for item in items if item["kind"] == "retention"]
        self.restarts = [item for item in items if item["kind"] == "restart"]
        months = [item["month"] for item in declared if self.first is None or item["month"] < self.first]
        month = max(months, default=None)
        for item in declared + self.restarts:
            entry = {name: value for name, value in item.items() if name not in ("position", "chain")}
            self.place(int(item["position"]), sha256(canonical({**entry, "owner": owner})), item["chain"])
            self.check(time_of(item["declared_at"]) <= sealed + HOUR, "a declaration after the newest leaf")
        for item in declared:
            self.check(month_end(item["month"]) <= min(sealed, time_of(item["declared_at"])), "a month that is not over")
        for item in self.restarts:
            self.check(item["from"] <= item["position"], "a restart before its end")
        last, runs = 0, []
        for item in items:
            low, high = (item["from"], item["to"]) if "to" in item else (item["position"], item["position"])
            self.check(last < low <= high, "the order of the rest of the chain")
            last = max(high, last)
            if "to" in item:
                runs.append(item)
        for item in runs:
            self.run(item, end, month, [each["position"] for each in declared if each["month"] == month])

    def run(self, item, end, month, declared):
        low, high = int(item["from"]), int(item["to"])
        if low > high or high > end["head"]["position"]:
            return
        values = {}
        if item["kind"] == "lost":
            inside = any(each["from"] <= low and high < each["position"] for each in self.restarts)
            self.check(inside, "entries that no restart declares")
            self.given_up = True
        elif month is None or high >= max(declared):
            self.wrong.append("entries that no month declares")
        elif "contents" in item:
            self.check(item["month"] <= month, "entries of a later month")
            hashes = [entry_hash(bytes.fromhex(content), item["month"]) for content in item["contents"]]
            self.check(len(hashes) == high - low + 1, "the number of contents")
            value = bytes(32) if low == 1 else self.entries.get(low - 1, (None, None))[1]
            for index, hash in enumerate(hashes):
                value = value and sha256(value + hash)
                values[low + index] = value
            self.check(value == bytes.fromhex(item["chain"]), "the contents of dropped entries")
        else:
            all = end["heads"] + [{"leaf": end["leaf"], "position": end["head"]["position"]}]
            margin = month_end(month) - 48 * HOUR
            bound = max([0] + [each["position"] for each in all if time_of(each["leaf"]["sealed_at"]) <= margin])
            if high > bound and end["note"] is None:
                self.open.append("dropped entries of a log without a key")
            elif high > bound and restarted(end["note"]):
                self.given_up = True
            else:
                self.check(high <= bound, "entries that may be of a later month")
        for position in range(low, high + 1):
            self.check(position not in self.entries, "position %d is taken" % position)
            self.entries.setdefault(position, (None, values.get(position)))
        self.entries[high] = (None, bytes.fromhex(item["chain"]))

    def explained(self, position):
        return any(each["from"] <= position < each["position"] for each in self.restarts)

    def chain(self, head):
        value = bytes(32)
        for position in range(1, int(head["position"]) + 1):
            if position not in self.entries:
                self.wrong.append("position %d is missing" % position)
                value = None
                continue
            hash, chain = self.entries[position]
            if hash is not None and value is not None and sha256(value + hash) != chain:
                self.give_up(position, "entry %d differs" % position)
            value = chain
        self.check(max(self.entries, default=0) <= head["position"], "entries after the head")
        self.check(value is None or value.hex() == head["chain"], "the end of the chain")

    def give_up(self, position, what):
        if self.explained(position):
            self.given_up = True
        else:
            self.wrong.append(what)

    def signed(self, note, keys, all_sign):
        """Returns the tree head of a note that the right keys signed, or None."""
        read = read_note(note)
        head = read and tree_head(read[0])
        known = [key_of(key, 1) for key in set(keys)]
        if not head or len(known) != len(keys) or any(key is None or key[0] != head[0] for key in known):
            return None
        given = [key_of(key, 1) for key in self.given["keys"]] or known
        signers = set()
        for name, hashed, signature in read[1]:
            for key in {*known, *given}:
                if (name, hashed) == key[:2]:
                    if not is_right(read[0], key, signature):
                        return None
                    signers.add(key)
        if all_sign and any(key not in signers for key in known):
            return None
        return head if signers & set(given if all_sign else signers) else None

    def roots(self, end):
        head, leaf, note = end["head"], end["leaf"], end["note"]
        if leaf is None:
            self.check(head["position"] == 0 and head["chain"] == bytes(32).hex() and end["map"] == {"path": []}, "a head")
        else:
            self.check(in_map(head["owner"], head["position"], head["chain"], end["map"], leaf["map"]), "the head in the map")
        tree = None
        if leaf is None or note is None:
            self.open.append("no signed root")
            paths = [end["path"], end["keys"], *(each["path"] for each in end["heads"])]
            self.check(note is None and not any(paths) and "cosigned" not in end, "a part of a signed root")
        else:
            tree = self.signed(note, end["keys"], True)
            self.check(tree, "the signed root")
            if tree:
                self.check(leaf["number"] == tree[1] - 1 and in_tree(leaf, end["path"], tree), "the leaf in the tree")
        self.heads(end, tree)
        cosigned = self.cosigned(end, tree)
        self.kept(end, tree, cosigned)
        self.witnesses(end, tree, cosigned)

    def heads(self, end, tree):
        last = (-1, datetime.min.replace(tzinfo=timezone.utc), 0)
        newest = [] if end["leaf"] is None else [{"leaf": end["leaf"], "position": end["head"]["position"]}]
        for each in end["heads"] + newest:
            now = (each["leaf"]["number"], time_of(each["leaf"]["sealed_at"]), each["position"])
            self.check(now[0] > last[0] and now[1] >= last[1] and now[2] >= last[2], "the order of heads")
            last = now
        for each in end["heads"]:
            position, chain = each["position"], each["chain"]
            self.check(in_map(end["head"]["owner"], position, chain, each["map"], each["leaf"]["map"]), "a head in its map")
            value = bytes(32) if position == 0 else self.entries.get(int(position), (None, None))[1]
            if value is not None and value.hex() != chain:
                self.give_up(position, "a head that is not on the chain")
            if tree:
                self.check(in_tree(each["leaf"], each["path"], tree), "the leaf of a head in the tree")
            if "tree" in each:
                size, root = int(each["leaf"]["number"]) + 1, bytes.fromhex(each["tree"]["root"])
                right = tree and consistent(size, root, tree[1], tree[2], each["tree"]["consistency"])
                self.check(right, "an earlier tree")

    def cosigned(self, end, tree):
        if "cosigned" not in end or not tree:
            return None
        root = self.signed(end["cosigned"]["note"], end["keys"], False)
        right = root and root[0] == tree[0]
        if right:
            (_, small, first), (_, large, second) = sorted([root, tree], key=lambda each: each[1])
            right = consistent(small, first, large, second, end["cosigned"]["consistency"])
        self.check(right, "the cosigned root")
        return root if right else None

    def kept(self, end, tree, cosigned):
        if not tree:
            return
        known = {0: sha256(b""), tree[1]: tree[2]}
        if cosigned:
            known[cosigned[1]] = cosigned[2]
        for each in end["heads"]:
            if "tree" in each:
                known[int(each["leaf"]["number"]) + 1] = bytes.fromhex(each["tree"]["root"])
        for note in self.given["roots"]:
            origin, size, root = tree_head(read_note(note)[0])
            if origin != tree[0]:
                self.open.append("a kept root of another log")
            elif size in known and known[size] != root:
                self.wrong.append("another tree of the size of a kept root")
            elif size > tree[1]:
                self.open.append("a newer kept root")
            elif size not in known:
                self.open.append("a kept root that nothing connects")

    def witnesses(self, end, tree, cosigned):
        keys, quorum = self.given["witness_keys"], self.given["quorum"]
        if not keys:
            return
        signers = set()
        text, signatures = read_note(end["cosigned"]["note"]) if cosigned else ("", [])
        for name, hashed, signature in signatures:
            for key in (key_of(each, 4) for each in keys):
                if (name, hashed) == key[:2]:
                    seconds = int.from_bytes(signature[:8], "big")
                    message = "cosignature/v1\ntime %d\n%s" % (seconds, text)
                    if not is_right(message, key, signature[8:]):
                        self.wrong.append("a cosignature")
                    elif seconds <= datetime.now(timezone.utc).timestamp() + 3600:
                        signers.add(key)
        if len(signers) < quorum or (tree and cosigned and cosigned[1] < tree[1]):
            self.open.append("too few witnesses")


def in_tree(leaf, path, tree):
    hash = sha256(b"\0" + canonical(leaf).encode())
    number = int(leaf["number"])
    return number < tree[1] and root_by_path(hash, number, tree[1], path) == tree[2]


def month_end(month):
    year, number = int(month[:4]), int(month[5:])
    return datetime(year + number // 12, number % 12 + 1, 1, tzinfo=timezone.utc)


def ulid_ms(id):
    return functools.reduce(lambda ms, digit: ms * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(digit), id[:10], 0)


def judge(lines, given):
    """Returns the result of a verification, and what is wrong or open."""
    log = Log(given)
    try:
        values = [i_json(line) for line in lines]
        end = values[-1] if values else None
        if isinstance(end, dict) and end.get("format", 1) != 1:
            return "undecided", ["an unknown format"]
        shape(end, **END)
        owner = end["head"]["owner"]
        log.check(given["owner"] in (None, owner), "another owner")
        log.events(values[:-1], owner)
        log.remainder(end)
        log.chain(end["head"])
        log.roots(end)
        for ms, position, joined in log.late:
            again = any(each["position"] < position and ms < time_of(each["declared_at"]).timestamp() * 1000
                        for each in log.restarts)
            log.check(again or joined, "a late event")
            log.given_up = log.given_up or again
            if joined:
                log.open.append("an event that joined late")
    except (Wrong, ValueError, RecursionError) as error:
        return "altered", ["unreadable: %s" % error]
    if log.given_up:
        log.open.append("entries were given up")
    result = "altered" if log.wrong else "undecided" if log.open else "complete"
    return result, log.wrong + log.open


NOTHING = {"owner": None, "keys": [], "roots": [], "witness_keys": [], "quorum": 0}


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


def verify(path, owner=None):
    return judge(lines_of(path), {**NOTHING, "owner": owner})


def changed(lines, edit):
    if "remove" in edit:
        return lines[:edit["remove"]] + lines[edit["remove"] + 1:]
    value = json.loads(lines[edit["line"]])
    at = value
    for name in edit["path"][:-1]:
        at = at[name]
    at[edit["path"][-1]] = edit["value"]
    # writes numbers and lone surrogates as JavaScript does
    return lines[:edit["line"]] + [json.dumps(value, ensure_ascii=True)] + lines[edit["line"] + 1:]


def vectors(path):
    good, counts = {}, {}
    for line in lines_of(path):
        vector = json.loads(line)
        base = good.setdefault(vector["title"], vector) if "lines" in vector else good[vector["of"]]
        lines = base["lines"]
        for edit in vector.get("edits", []):
            lines = changed(lines, edit)
        result, why = judge(lines, {**NOTHING, **{name: base[name] for name in NOTHING}, **vector.get("given", {})})
        assert result == vector["result"], (vector["title"], result, why)
        counts[result] = counts.get(result, 0) + 1
    return counts


if __name__ == "__main__":
    command, *parameters = sys.argv[1:]
    print(json.dumps({"vectors": vectors, "verify": verify}[command](*parameters)))
