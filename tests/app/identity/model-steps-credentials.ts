import fc from "fast-check";
import { NOBODY } from "./bed.ts";
import type { Key, Model } from "./model.ts";
import {
  anOrganization,
  aPerson,
  call,
  done,
  type Expected,
  notFound,
  organizationOf,
  pick,
  place,
  send,
  steps,
  text,
} from "./model-steps.ts";

const WEEK_MS = 7 * 86_400_000;

/** Generates one of the three URL paths of keys. `owner` is undefined if the path names nobody. */
const addressOfKeys = fc
  .record({ kind: fc.constantFrom("person", "member", "account"), which: place, where: place })
  .map(({ kind, which, where }) => ({
    name: `${kind} ${which}`,
    find(model: Model): { path: string; owner: string | undefined } {
      if (kind === "person") {
        const id = aPerson(model, which);
        return { path: `/users/${id}/api-keys`, owner: model.people.get(id)?.id };
      }
      if (kind === "member") {
        const id = pick(model.members.keys(), which);
        return { path: `/members/${id}/api-keys`, owner: model.member(id)?.id };
      }
      const id = pick(model.accounts.keys(), which);
      const organization = organizationOf(model, model.accounts.get(id), where);
      const path = `/organizations/${organization}/service-accounts/${id}/api-keys`;
      return { path, owner: model.account(id, organization)?.member };
    },
  }));

function createdKey(model: Model, key: Key): Expected {
  const { id, name } = key;
  const shown = model.shownKey(key);
  const details = { key_id: id, key_prefix: shown.key_prefix, name };
  return { status: 201, body: { ...shown, key: key.key }, note: { created: id, details } };
}

const keyBody = fc.record(
  { name: text, expires_in_seconds: fc.constantFrom(60, 3600, 315_360_000) },
  { requiredKeys: [] },
);

const createKey = steps(
  "create a key",
  { address: addressOfKeys, body: keyBody },
  (model, { address, body }) => {
    const { path, owner } = address.find(model);
    return send("POST", path, body, (given) => {
      const { name, expires_in_seconds: seconds } = body;
      if (owner === undefined) return notFound;
      const key = model.addKey({
        id: String(given.id),
        owner,
        name: name?.trim() ?? "Unnamed Key",
        key: String(given.key),
        lifetimeMs: seconds === undefined ? null : seconds * 1000,
      });
      return createdKey(model, key);
    });
  },
);

const listKeys = steps("list keys", { address: addressOfKeys }, (model, { address }) => {
  const { path, owner } = address.find(model);
  return call("GET", `${path}?limit=100`, () => {
    if (owner === undefined) return notFound;
    const own = [...model.keys.values()].filter((key) => key.owner === owner);
    return { status: 200, body: { keys: own.map((key) => model.shownKey(key)), has_more: false } };
  });
});

/** Generates a key, mostly below the path of its owner. `key` is undefined below any other path. */
const addressOfKey = fc
  .record({ address: addressOfKeys, which: place, astray: fc.nat({ max: 3 }) })
  .map(({ address, which, astray }) => ({
    name: `key ${which}${astray === 0 ? ` of ${address.name}` : ""}`,
    find(model: Model) {
      const id = pick(model.keys.keys(), which);
      const key = model.keys.get(id);
      const { path, owner } = astray === 0 ? address.find(model) : homeOf(model, key?.owner ?? NOBODY, which);
      return { path: `${path}/${id}`, key: owner !== undefined && key?.owner === owner ? key : undefined };
    },
  }));

const revokeKey = steps("revoke", { address: addressOfKey }, (model, { address }) => {
  const { path, key } = address.find(model);
  return call("DELETE", path, () => {
    if (key === undefined) return notFound;
    key.revoked_at ??= model.now;
    return done;
  });
});

function stateOf({ rotated, revoked_at }: Key): string {
  if (rotated) return "rotated";
  return revoked_at === null ? "expired" : "revoked";
}

const rotateKey = steps(
  "rotate",
  { address: addressOfKey, overlap: fc.constantFrom(0, 60, 3600, 604_800) },
  (model, { address, overlap }) => {
    const { path, key: old } = address.find(model);
    return send("POST", `${path}/rotate`, { overlap_seconds: overlap }, (given) => {
      if (old === undefined) return notFound;
      const over = stateOf(old);
      if (over === "rotated" || !model.isUsable(old)) {
        return { status: 409, code: "CONFLICT", details: { field: "status", value: over } };
      }
      const { owner, name, lifetimeMs } = old;
      const [id, key] = [String(given.id), String(given.key)];
      const next = model.addKey({ id, key, owner, name, lifetimeMs });
      old.rotated = true;
      if (overlap === 0) old.revoked_at = model.now;
      const overlapEnds = model.now + overlap * 1000;
      old.expires_at = Math.min(old.expires_at ?? overlapEnds, overlapEnds);
      return createdKey(model, next);
    });
  },
);

/**
 * Returns the URL path of an owner's keys. A service account has two paths, and `index` selects one of them.
 */
function homeOf(model: Model, owner: string, index: number): { path: string; owner: string | undefined } {
  if (model.people.has(owner)) return { path: `/users/${owner}/api-keys`, owner };
  const member = model.member(owner);
  if (!member?.account || index % 2 === 0) return { path: `/members/${owner}/api-keys`, owner: member?.id };
  return {
    path: `/organizations/${member.organization}/service-accounts/${member.account}/api-keys`,
    owner,
  };
}

const mint = steps("create a session", { who: place, which: place }, (model, { who, which }) => {
  const person = aPerson(model, who);
  const organization = anOrganization(model, which);
  return call("POST", `/users/${person}/organizations/${organization}/session`, (given) => {
    const member = model.membership(organization, person);
    if (member?.status !== "active" || model.people.get(person)?.status !== "active") return notFound;
    const token = String(given.token);
    model.sessions.push({ token, member: member.id, expires_at: model.now + 3_600_000 });
    const { valid, realm, plan, ...now } = model.validate(token);
    const note = { organization_id: organization, member_id: member.id };
    return { status: 201, body: { token, role: member.role, ...now }, note };
  });
});

const validate = steps("validate a credential", { which: place }, (model, { which }) => {
  const credential = pick(model.credentials().toReversed(), which);
  const used = () => ({ status: 200, body: model.use(credential) });
  return send("POST", "/internal/credentials/validate", { credential }, used);
});

const wait = steps(
  "wait",
  { timeMs: fc.constantFrom(1, -1, -60_000, 59_999, 60_000, 3_599_999, 3_600_000, WEEK_MS) },
  (model, { timeMs }) => {
    model.now += timeMs;
    return null;
  },
);

export const credentialSteps = [
  createKey,
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  rotateKey,
  mint,
  validate,
  validate,
  wait,
];
