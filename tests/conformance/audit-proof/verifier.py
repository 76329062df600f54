"""Another verifier of exports with proof, from "How to write another verifier" in apps/audit/README.md alone.

python3 verifier.py vectors FILE          checks the vectors
python3 verifier.py verify FILE [KEYS]    checks an export; KEYS is a JSON Web Key Set
"""

import base64
import hashlib
import json
import math
import sys


# JSON: RFC 8785, and half of a surrogate pair as its escape

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
    """(position, chain, entry) of each half that has a place."""
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
    """The root that a leaf's way leads to; None when the path has another length."""
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


# Checkpoints

FIELDS = ("number", "sealed_at", "previous", "heads")


def text_of(checkpoint):
    return checkpoint["jws"] or canonical({name: checkpoint[name] for name in FIELDS})


def unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signed_by(checkpoint, keys):
    """Whether one of the keys signed what the checkpoint says."""
    header, payload, signature = checkpoint["jws"].split(".")
    head = json.loads(unbase64(header))
    key = next((key for key in keys if key["kid"] == head["kid"]), None)
    if key is None or head["alg"] != "EdDSA" or head["typ"] != "audit-checkpoint":
        return False
    said = canonical({name: checkpoint[name] for name in FIELDS})
    signed = (header + "." + payload).encode()
    return unbase64(payload).decode() == said and ed25519(unbase64(key["x"]), signed, unbase64(signature))


# Ed25519, as RFC 8032 writes it (section 6)

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


def ed25519(key, message, signature):
    a, r = point_of(key), point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= Q:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % Q
    b, c = times(s, BASE), add(r, times(h, a))
    return (b[0] * c[2] - c[0] * b[2]) % P == 0 and (b[1] * c[2] - c[1] * b[2]) % P == 0


def verify(path, keys_path=None):
    """What an export is: its events, and whatever is wrong with it."""
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = [json.loads(line) for line in file.read().split("\n")[:-1]]
    *events, end = lines
    head, checkpoint, inclusion = end["head"], end["checkpoint"], end["inclusion"]
    keys = end["keys"] if keys_path is None else json.load(open(keys_path, encoding="utf-8"))["keys"]
    wrong = []
    unplaced = []
    places = {}
    for event in events:
        proof = event.pop("proof")
        if proof["intent"] is None or (proof["outcome"] is None and event["outcome"] != "pending"):
            unplaced.append(event["id"])
        for position, chain, entry in entries(event, proof):
            if position in places:
                wrong.append("place %d is taken twice" % position)
            places[position] = (bytes.fromhex(chain), entry, event["id"])
    dropped = end["dropped"] or {"occurred_before": "", "ranges": []}
    if any(event["occurred_at"] < dropped["occurred_before"] for event in events):
        wrong.append("events are here that are said to be dropped")
    gone = set()
    for run in dropped["ranges"]:
        gone.update(range(run["from"], run["to"] + 1))
        places[run["to"]] = (bytes.fromhex(run["chain"]), None, None)
    changed, missing = [], []
    before = bytes(32)
    for position in range(1, head["position"] + 1):
        chain, entry, event_id = places.pop(position, (None, None, None))
        if chain is None and position not in gone:
            missing.append(position)
        if entry is not None and before is not None and next_in_chain(before, entry) != chain:
            changed.append(event_id)
        before = chain
    if places:
        wrong.append("places lie behind the head")
    if (before or bytes(32)).hex() != head["chain"] and not missing:
        wrong.append("the chain ends in another value")
    if head["position"] > 0:
        held = checkpoint and root_by_path(leaf(head), **inclusion)
        if not held or held.hex() != checkpoint["heads"]:
            wrong.append("no checkpoint holds the head")
        elif checkpoint["jws"] is not None and not signed_by(checkpoint, keys):
            wrong.append("the checkpoint is not signed by a known key")
    for newer, older in zip(end["recent_checkpoints"], end["recent_checkpoints"][1:]):
        if newer["number"] == older["number"] + 1 and newer["previous"] != sha256(text_of(older)).hex():
            wrong.append("checkpoint %d does not follow the one before" % newer["number"])
    complete = not (wrong or unplaced or changed or missing)
    return {
        "complete": complete,
        "events": len(events),
        "changed": sorted(set(changed)),
        "missing": missing,
        "unplaced": sorted(unplaced),
        "wrong": wrong,
    }


def check_vectors(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
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
    keys = [key["jwk"] for key in vectors["keys"]]
    previous = bytes(32).hex()
    for checkpoint in vectors["checkpoints"]:
        assert checkpoint["previous"] == previous
        previous = sha256(text_of(checkpoint)).hex()
        assert previous == checkpoint["text_sha256"]
        assert checkpoint["jws"] is None or signed_by(checkpoint, keys)
    return {"complete": True}


if __name__ == "__main__":
    command, *parameters = sys.argv[1:]
    print(json.dumps({"vectors": check_vectors, "verify": verify}[command](*parameters)))
