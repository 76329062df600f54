"""A second verifier of exports with proof. Its only source is "How to write another verifier" in apps/audit/README.md.

python3 verifier.py vectors FILE [EXPORTS...]   checks the test vectors in FILE, and the export vectors in EXPORTS
python3 verifier.py verify FILE [KEYS [KEPT]]   checks an export; KEYS is a JSON Web Key Set, or - for the keys in the
                                                file; KEPT is an earlier export, or checkpoints, that the reader kept
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


# I-JSON: no duplicate names in an object, and only numbers that a double represents exactly

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


def i_json(text):
    return json.loads(text, object_pairs_hook=members, parse_int=exact, parse_float=exact)


# Canonical JSON: RFC 8785, with unpaired surrogates written as escapes

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
        if character < " " or "\ud800" <= character <= "\udfff":
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


# Entries

INTENT = "id occurred_at request_id service method route params ip user_agent".split()
OUTCOME = "id request_id outcome status details created_id".split()


def entries(event, proof):
    """Returns (position, chain, entry) for each half of an event that has a position in the chain."""
    found = []
    intent, outcome = proof["intent"], proof["outcome"]
    actor = event["actor"]
    named = intent is not None and "organization_id" in intent
    if intent is not None:
        entry = {name: event[name] for name in INTENT}
        entry["kind"] = "intent"
        entry["organization_id"] = intent["organization_id"] if named else event["organization_id"]
        member_id = intent["member_id"] if named else actor["member_id"]
        entry["actor"] = {**actor, "member_id": member_id}
        if "user_id" in event:
            entry["user_id"] = event["user_id"]
        entry["salt"] = intent["salt"]
        found.append((intent["position"], intent["chain"], canonical(entry)))
    if outcome is not None:
        entry = {name: event[name] for name in OUTCOME}
        entry["kind"] = "outcome"
        entry["organization_id"] = event["organization_id"] if named else None
        entry["member_id"] = actor["member_id"] if named else None
        entry["salt"] = outcome["salt"]
        found.append((outcome["position"], outcome["chain"], canonical(entry)))
    return found


def next_in_chain(previous, entry):
    return sha256(previous + sha256(entry))


# Heads

def leaf(head):
    named = {name: head[name] for name in ("chain", "owner", "position")}
    return sha256(b"\0" + canonical(named).encode())


def root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while left * 2 < len(leaves):
        left *= 2
    return sha256(b"\1" + root(leaves[:left]) + root(leaves[left:]))


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


def map_root(leaves, level=0):
    """Returns the root of a map of (key, leaf) pairs."""
    if not leaves:
        return bytes(32)
    if len(leaves) == 1:
        return leaves[0][1]
    left = [pair for pair in leaves if bit(pair[0], level) == 0]
    right = [pair for pair in leaves if bit(pair[0], level) == 1]
    return sha256(b"\1" + map_root(left, level + 1) + map_root(right, level + 1))


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


# Checkpoints

def said_by(checkpoint):
    return canonical({name: value for name, value in checkpoint.items() if name != "jws"})


def text_of(checkpoint):
    return checkpoint["jws"] or said_by(checkpoint)


def unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signed_by(checkpoint, keys):
    """Returns whether one of the keys signed the fields of the checkpoint."""
    header, payload, signature = checkpoint["jws"].split(".")
    head = json.loads(unbase64(header))
    key = next((key for key in keys if key["kid"] == head["kid"]), None)
    if key is None or head["alg"] != "EdDSA" or head["typ"] != "audit-checkpoint":
        return False
    said = said_by(checkpoint)
    signed = (header + "." + payload).encode()
    return unbase64(payload).decode() == said and ed25519(unbase64(key["x"]), signed, unbase64(signature))


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


# The tree of checkpoints

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


def signed_root(text, keys):
    """Returns the tree head of a note, or None if it is no note or if the keys did not sign it correctly."""
    note = read_note(text)
    head = note and tree_head(note[0])
    if not head:
        return None
    right = []
    for name, key_id, signature in note[1]:
        for key in keys:
            public = unbase64(key["x"])
            if (name, key_id) == (head[0], sha256((name + "\n").encode() + b"\x01" + public)[:4]):
                right.append(len(signature) == 64 and ed25519(public, note[0].encode(), signature))
    return head if right and all(right) else None


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


def is_leaf(checkpoint, path, size, tree_root):
    number = int(checkpoint["number"])
    if path is None or number > size:
        return False
    return root_by_path(sha256(b"\0" + text_of(checkpoint).encode()), number - 1, size, path) == tree_root


def witness_key(text):
    """Parses a witness's verifier key. Returns its name, id and public key."""
    name, key_id, material = text.split("+", 2)
    material = standard64(material)
    assert material[:1] == b"\x04" and sha256((name + "\n").encode() + material)[:4].hex() == key_id
    return name, bytes.fromhex(key_id), material[1:]


def has_cosigned(log, text, signature, public, now):
    """Returns whether a witness cosigned the note, at most an hour after `now`. Records a wrong signature."""
    time = int.from_bytes(signature[:8], "big")
    said = b"cosignature/v1\ntime %d\n" % time + text.encode()
    if len(signature) != 72 or not ed25519(public, said, signature[8:]):
        log.wrong.append("a cosignature is wrong")
        return False
    return datetime.fromtimestamp(time, timezone.utc) <= now + timedelta(hours=1)


def check_cosigned(log, head, keys, witnesses):
    """Checks the cosigned root. Records whether a quorum of witnesses cosigned a tree with the checkpoint."""
    cosigned = log.end["tree"].get("cosigned")
    if cosigned is None:
        return
    root = signed_root(cosigned["note"], keys)
    if root is None or root[0] != head[0]:
        log.wrong.append("the cosigned root is not signed, or of another log")
        return
    if not consistent(root[1], root[2], head[1], head[2], cosigned["consistency"]):
        log.wrong.append("the tree does not begin with the cosigned one")
        return
    if witnesses is None:
        return
    text, signatures = read_note(cosigned["note"])
    now = time_of(witnesses["now"])
    seen_by = set()
    for name, key_id, public in map(witness_key, witnesses["keys"]):
        for claimed_name, claimed_id, signature in signatures:
            if (claimed_name, claimed_id) == (name, key_id) and has_cosigned(log, text, signature, public, now):
                seen_by.add(public)
    has_checkpoint = log.end["checkpoint"] is not None and log.end["checkpoint"]["number"] <= root[1]
    log.is_witnessed = has_checkpoint and len(seen_by) >= witnesses["quorum"]


def check_tree(log, keys, kept_end, kept_note, witnesses):
    """Checks the tree. Returns the numbers of the checkpoints whose paths in the tree were checked."""
    tree = log.end.get("tree")
    if tree is None:
        if kept_note is not None:
            log.open.append("the file has no tree")
        return set()
    head = signed_root(tree["note"], keys)
    if head is None:
        log.wrong.append("the root of the tree is not signed")
        return set()
    _, size, tree_root = head
    asked = tree.get("asked")
    leaves = [(log.end["checkpoint"], tree["path"])]
    leaves += [(each["checkpoint"], each.get("path")) for each in log.end.get("heads", [])]
    if asked is not None:
        leaves.append((asked["checkpoint"], asked["path"]))
        earlier, earlier_root = int(asked["checkpoint"]["number"]), bytes.fromhex(asked["root"])
        if not consistent(earlier, earlier_root, size, tree_root, asked["consistency"]):
            log.wrong.append("the tree does not begin with the tree that was asked for")
    for checkpoint, path in leaves:
        if not is_leaf(checkpoint, path, size, tree_root):
            log.wrong.append("checkpoint %d is not in the tree" % checkpoint["number"])
    check_cosigned(log, head, keys, witnesses)
    earlier_note = None if kept_end is None else kept_end.get("tree", {}).get("note")
    for text, is_asked in ((kept_note, True), (earlier_note, False)):
        if text is not None:
            compare_roots(log, signed_root(text, keys), head, asked, is_asked)
    return {checkpoint["number"] for checkpoint, _ in leaves}


def compare_roots(log, kept, head, asked, is_asked):
    if kept is None:
        log.wrong.append("the root that was kept is not signed")
        return
    roots = {head[1]: head[2]}
    if asked is not None:
        roots.setdefault(int(asked["checkpoint"]["number"]), bytes.fromhex(asked["root"]))
    if kept[1] in roots:
        if roots[kept[1]] != kept[2]:
            log.wrong.append("there are two trees of %d checkpoints" % kept[1])
    elif is_asked and kept[1] > 0:
        log.open.append("nothing leads from the root that was kept to the file's")


# Dropped months

CLOCKS = timedelta(hours=1)
EDGE = timedelta(hours=48)


def time_of(text):
    """Parses a time in the log's format. Returns None if the text has another format."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text):
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def month_start(month):
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", month):
        return None
    return datetime(int(month[:4]), int(month[5:]), 1, tzinfo=timezone.utc)


def month_end(month):
    year, number = int(month[:4]), int(month[5:])
    return datetime(year + number // 12, number % 12 + 1, 1, tzinfo=timezone.utc)


def retention_entry(owner, declaration):
    said = {name: declaration[name] for name in ("month", "declared_at", "ranges", "salt")}
    return canonical({"kind": "retention", "owner": owner, **said})


def is_sound(declaration, sealed_at):
    """Returns whether a declaration is about a month that was over, and about positions before its own."""
    declared_at = time_of(declaration["declared_at"])
    if month_start(declaration["month"]) is None or declared_at is None or sealed_at is None:
        return False
    end = month_end(declaration["month"])
    if declared_at > sealed_at + CLOCKS or end > sealed_at or end > declared_at:
        return False
    last = 0
    for run in declaration["ranges"]:
        if run["from"] <= last or run["to"] < run["from"]:
            return False
        last = run["to"]
    return last < declaration["position"]


class Log:
    """The entries of an export by position, and the findings about it."""

    def __init__(self, events, end):
        self.end = end
        self.wrong, self.open, self.unplaced, self.places, self.gone = [], [], [], {}, set()
        self.days, self.is_witnessed = {}, False
        self.oldest = min((event["occurred_at"] for event in events), default=None)
        for event in events:
            self.add(event)

    def add(self, event):
        proof = event["proof"]
        if proof["intent"] is None or (proof["outcome"] is None and event["outcome"] != "pending"):
            self.unplaced.append(event["id"])
        for position, chain, entry in entries(event, proof):
            self.place(position, chain, entry, event["id"])
        if proof["intent"] is not None:
            day, position = event["occurred_at"][:10], proof["intent"]["position"]
            self.days[day] = min(position, self.days.get(day, position))

    def place(self, position, chain, entry, event_id):
        if position in self.places:
            self.wrong.append("place %d is taken twice" % position)
        self.places[position] = (bytes.fromhex(chain), entry, event_id)

    def least_from(self, time):
        day = time.strftime("%Y-%m-%d")
        return min((position for at, position in self.days.items() if at >= day), default=math.inf)

    def bridge(self, runs):
        """Marks as dropped the runs of which the export shows no entry. Returns these runs."""
        absent = [run for run in runs if not any(run["from"] <= place <= run["to"] for place in self.places)]
        for run in absent:
            self.gone.update(range(int(run["from"]), int(run["to"]) + 1))
            self.places[run["to"]] = (bytes.fromhex(run["chain"]), None, None)
        return absent

    def refuse_older(self, before):
        oldest = None if self.oldest is None else time_of(self.oldest)
        if oldest is not None and oldest < before:
            self.wrong.append("events are here that are said to be dropped")

    def declared(self, sealed_at):
        owner = self.end["head"]["owner"]
        declarations = self.end.get("retention", [])
        for declaration in declarations:
            entry = retention_entry(owner, declaration)
            self.place(declaration["position"], declaration["chain"], entry, None)
        for declaration in declarations:
            if not is_sound(declaration, sealed_at):
                self.wrong.append("a declaration is not one that retention makes")
                continue
            absent = self.bridge(declaration["ranges"])
            if absent:
                self.refuse_older(month_end(declaration["month"]))
            least = self.least_from(month_end(declaration["month"]) + EDGE)
            if any(run["to"] > least for run in absent):
                self.open.append("declared places lie behind newer events")

    def claimed(self, sealed_at):
        claim = self.end["dropped"]
        if claim is None or not claim["ranges"]:
            return
        before = time_of(claim["occurred_before"])
        if before is None or before != month_start(claim["occurred_before"][:7]):
            self.wrong.append("what is said to be dropped is before no month")
        elif sealed_at is None or before > sealed_at:
            self.wrong.append("what is said to be dropped is of the future")
        else:
            self.refuse_older(before)
            least = self.least_from(before + EDGE)
            if any(run["to"] > least for run in claim["ranges"]):
                self.wrong.append("what is said to be dropped lies behind newer events")
            if self.bridge([run for run in claim["ranges"] if run["from"] <= run["to"]]):
                self.open.append("nothing declares what is said to be dropped")

    def walk(self):
        """Walks the chain. Returns the events that differ from the sealed ones, and the missing positions."""
        changed, missing, before = [], [], bytes(32)
        places = dict(self.places)
        for position in range(1, int(self.end["head"]["position"]) + 1):
            chain, entry, event_id = places.pop(position, (None, None, None))
            if chain is None and position not in self.gone:
                missing.append(position)
            if entry is not None and before is not None and next_in_chain(before, entry) != chain:
                changed.append(event_id)
            before = chain
        if places:
            self.wrong.append("places lie behind the head")
        if (before or bytes(32)).hex() != self.end["head"]["chain"] and not missing:
            self.wrong.append("the chain ends in another value")
        return changed, missing


# The checkpoints of a file, compared with kept copies

def check_head(log):
    head, checkpoint, inclusion = (log.end[name] for name in ("head", "checkpoint", "inclusion"))
    if head["position"] == 0 and checkpoint is None:
        log.open.append("no checkpoint shows that the log is empty")
        return
    if checkpoint and "map" in checkpoint:
        proof = log.end.get("map")
        held = proof is not None and in_map(head["owner"], head["position"], head["chain"], proof, checkpoint["map"])
    else:
        root = checkpoint and inclusion and root_by_path(leaf(head), **inclusion)
        held = bool(root) and root.hex() == checkpoint["heads"]
    if not held:
        log.wrong.append("no checkpoint holds the head")


def check_heads(log):
    """Checks the earlier heads. Returns the numbers of the checkpoints whose head is on the chain."""
    owner, end = log.end["head"]["owner"], log.end["head"]["position"]
    newest = 0 if log.end["checkpoint"] is None else log.end["checkpoint"]["number"]
    used, last, reached = set(), 0, 0
    for head in log.end.get("heads", []):
        checkpoint, position, chain = head["checkpoint"], head["position"], head["chain"]
        if not last < checkpoint["number"] < newest:
            log.wrong.append("the heads are not in the order of their checkpoints")
        if position < reached:
            log.wrong.append("a head goes back")
        root = checkpoint.get("map")
        if root is None or not in_map(owner, position, chain, head["map"], root):
            log.wrong.append("a checkpoint does not hold its head")
        elif position > end:
            log.wrong.append("the file does not reach a head")
        elif position == 0:
            used.add(checkpoint["number"])
        elif position in log.places:
            if log.places[position][0].hex() == chain:
                used.add(checkpoint["number"])
            else:
                log.wrong.append("a head is not on the chain")
        elif position not in log.gone:
            log.wrong.append("no entry is at the place of a head")
        last, reached = checkpoint["number"], max(reached, position)
    if log.end["checkpoint"] is not None and "map" in log.end["checkpoint"]:
        used.add(newest)
    return used


def checkpoints_of(end):
    earlier = [head["checkpoint"] for head in end.get("heads", [])]
    if "asked" in end.get("tree", {}):
        earlier.append(end["tree"]["asked"]["checkpoint"])
    every = [end["checkpoint"], *earlier, *end["recent_checkpoints"]]
    return [checkpoint for checkpoint in every if checkpoint is not None]


def check_history(log, keys, kept_end, kept):
    """Checks that all checkpoints are signed and of one history. Returns them by number."""
    everything = checkpoints_of(log.end) + kept + ([] if kept_end is None else checkpoints_of(kept_end))
    signed_from = min((each["number"] for each in everything if each["jws"] is not None), default=math.inf)
    trusted = log.end["keys"] if keys is None else keys
    history = {}
    for checkpoint in everything:
        if checkpoint["jws"] is None:
            if keys is not None or checkpoint["number"] >= signed_from:
                log.wrong.append("a checkpoint is not signed")
        elif not signed_by(checkpoint, trusted):
            log.wrong.append("a checkpoint is not signed by a known key")
        other = history.setdefault(checkpoint["number"], checkpoint)
        if text_of(other) != text_of(checkpoint):
            log.wrong.append("there are two checkpoints %d" % checkpoint["number"])
    for number, checkpoint in history.items():
        before = history.get(number - 1)
        if before is not None and checkpoint["previous"] != sha256(text_of(before)).hex():
            log.wrong.append("checkpoint %d does not follow the one before" % number)
        if number == 1 and checkpoint["previous"] != bytes(32).hex():
            log.wrong.append("checkpoint 1 names one before it")
    return history


def compare_checkpoints(log, history, kept, used):
    newest = max((each["number"] for each in checkpoints_of(log.end)), default=0)
    for number in {checkpoint["number"] for checkpoint in kept} - used:
        if number > newest:
            log.open.append("a checkpoint that was kept is newer than the file")
        elif any(between not in history for between in range(int(number), int(newest) + 1)):
            log.open.append("nothing leads from a checkpoint that was kept to the file's")


def compare_exports(log, kept):
    if kept["head"]["owner"] != log.end["head"]["owner"]:
        log.open.append("the export that was kept is of another log")
        return
    position, chain = kept["head"]["position"], kept["head"]["chain"]
    if position == 0:
        return
    if position in log.places:
        if log.places[position][0].hex() != chain:
            log.wrong.append("what was kept was rewritten since")
    elif position in log.gone:
        log.open.append("what was kept ends in a place that was dropped since")
    elif position > log.end["head"]["position"]:
        newest = [max((each["number"] for each in checkpoints_of(end)), default=0) for end in (log.end, kept)]
        if newest[0] >= newest[1]:
            log.wrong.append("the file does not reach what was kept")
        else:
            log.open.append("the file is older than what was kept, or the log was set back")


def kept_copies(lines):
    """Parses a kept copy. Returns an export's last line, checkpoints, or a signed root; the others are empty."""
    if any(line.startswith("\u2014 ") for line in lines):
        return None, [], "".join(line + "\n" for line in lines)
    lines = [line for line in lines if line.strip()]
    values = [i_json(line) if line.startswith("{") else from_jws(line) for line in lines]
    if "head" in values[-1]:
        return values[-1], [], None
    return None, [each for value in values for each in value.get("audit_checkpoints", [value])], None


def from_jws(text):
    return {**i_json(unbase64(text.split(".")[1])), "jws": text}


def verify(path, keys_path="-", kept_path=None):
    """Returns the verdict on an export."""
    keys = None if keys_path == "-" else json.load(open(keys_path, encoding="utf-8"))["keys"]
    kept = [] if kept_path is None else lines_of(kept_path)
    return judge(lines_of(path), keys, kept)


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


def judge(lines, keys, kept_lines, witnesses=None):
    try:
        *events, end = [i_json(line) for line in lines]
    except NotIJson as error:
        return {"result": "altered", "complete": False, "wrong": [str(error)]}
    kept_end, kept, kept_note = kept_copies(kept_lines) if kept_lines else (None, [], None)
    log = Log(events, end)
    sealed_at = None if end["checkpoint"] is None else time_of(end["checkpoint"]["sealed_at"])
    log.declared(sealed_at)
    log.claimed(sealed_at)
    changed, missing = log.walk()
    check_head(log)
    history = check_history(log, keys, kept_end, kept)
    in_tree = check_tree(log, log.end["keys"] if keys is None else keys, kept_end, kept_note, witnesses)
    compare_checkpoints(log, history, kept, check_heads(log) | in_tree)
    if kept_end is not None:
        compare_exports(log, kept_end)
    altered = bool(log.wrong or log.unplaced or changed or missing)
    unwitnessed = witnesses is not None and not log.is_witnessed
    result = "altered" if altered else "unwitnessed" if unwitnessed else "undecided" if log.open else "complete"
    return {
        "result": result,
        "complete": result == "complete",
        "events": len(events),
        "changed": sorted({event_id for event_id in changed if event_id is not None}),
        "missing": missing,
        "unplaced": sorted(log.unplaced),
        "wrong": log.wrong,
        "open": log.open,
    }


def check_vectors(path, *further):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    for each in further:
        with open(each, encoding="utf-8") as file:
            vectors["exports"] += json.load(file)["exports"]
    for vector in vectors["i_json"]:
        try:
            i_json(vector["json"])
            assert vector["taken"], vector["json"]
        except NotIJson:
            assert not vector["taken"], vector["json"]
    for vector in vectors["retention"]:
        entry = retention_entry(vector["owner"], vector)
        assert entry == vector["entry"] and sha256(entry).hex() == vector["entry_sha256"]
    for vector in vectors["exports"]:
        found = judge(vector["lines"], vector["keys"], vector["kept"], vector.get("witnesses"))
        assert found["result"] == vector["result"], (vector["title"], found)
    for vector in vectors["canonical_json"]:
        assert canonical(json.loads(vector["json"])) == vector["canonical"], vector["json"]
    for vector in vectors["entries"]:
        wrote = vector["intent_wrote"] or {}
        proof = {
            "intent": {"position": 1, "chain": "", "salt": vector["intent_salt"], **wrote},
            "outcome": {"position": 2, "chain": "", "salt": vector["outcome_salt"]},
        }
        (_, _, intent), (_, _, outcome) = entries(vector["event"], proof)
        assert intent == vector["intent"] and outcome == vector["outcome"], vector["title"]
        assert sha256(intent).hex() == vector["intent_sha256"]
        assert sha256(outcome).hex() == vector["outcome_sha256"]
    chain = bytes(32)
    assert vectors["chain"]["values"][0] == chain.hex()
    for entry, value in zip(vectors["chain"]["entries"], vectors["chain"]["values"][1:]):
        chain = next_in_chain(chain, entry)
        assert chain.hex() == value
    for tree in vectors["head_trees"]:
        assert tree["heads"] == sorted(tree["heads"], key=lambda head: head["owner"].encode())
        leaves = [leaf(head) for head in tree["heads"]]
        assert [hash.hex() for hash in leaves] == [head["leaf"] for head in tree["heads"]]
        assert root(leaves).hex() == tree["root"]
        for hash, inclusion in zip(leaves, tree["inclusions"]):
            assert root_by_path(hash, **inclusion).hex() == tree["root"]
    for tree in vectors["head_maps"]:
        leaves = []
        for head in tree["heads"]:
            key, value = sha256(head["owner"]), map_value(head["position"], head["chain"])
            assert (key.hex(), value.hex()) == (head["key"], head["value"])
            leaves.append((key, map_leaf(key, value)))
        assert map_root(leaves).hex() == tree["root"]
        for proof in tree["proofs"]:
            held = in_map(proof["owner"], proof["position"], proof["chain"], proof["map"], tree["root"])
            assert held == proof["holds"], proof
    keys = [key["jwk"] for key in vectors["keys"]]
    for vector in vectors["signed_roots"]:
        assert signed_root(vector["note"], keys)[1] == vector["size"]
        assert sha256(vector["note"]).hex() == vector["text_sha256"]
    previous = bytes(32).hex()
    for vector in vectors["checkpoints"]:
        checkpoint = {name: value for name, value in vector.items() if name != "text_sha256"}
        assert checkpoint["previous"] == previous
        previous = sha256(text_of(checkpoint)).hex()
        assert previous == vector["text_sha256"]
        assert checkpoint["jws"] is None or signed_by(checkpoint, keys)
    return {"complete": True}


if __name__ == "__main__":
    command, *parameters = sys.argv[1:]
    print(json.dumps({"vectors": check_vectors, "verify": verify}[command](*parameters)))
