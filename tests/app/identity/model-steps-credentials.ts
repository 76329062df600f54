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
  type Step,
  send,
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

const createKey = fc.record({ address: addressOfKeys, body: keyBody }).map(
  ({ address, body }): Step => ({
    name: `key ${JSON.stringify(body)} of ${address.name}`,
    plan(model) {
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
  }),
);

const listKeys = addressOfKeys.map(
  (address): Step => ({
    name: `keys of ${address.name}`,
    plan(model) {
      const { path, owner } = address.find(model);
      return call("GET", `${path}?limit=100`, () => {
        if (owner === undefined) return notFound;
        const own = [...model.keys.values()].filter((key) => key.owner === owner);
        return { status: 200, body: { keys: own.map((key) => model.shownKey(key)), has_more: false } };
      });
    },
  }),
);

const revokeKey = fc.record({ address: addressOfKeys, which: place, astray: fc.nat({ max: 3 }) }).map(
  ({ address, which, astray }): Step => ({
    name: `revoke key ${which}${astray === 0 ? ` of ${address.name}` : ""}`,
    plan(model) {
      const id = pick(model.keys.keys(), which);
      const key = model.keys.get(id);
      const { path, owner } = astray === 0 ? address.find(model) : homeOf(model, key?.owner ?? NOBODY, which);
      return call("DELETE", `${path}/${id}`, () => {
        if (owner === undefined || key?.owner !== owner) return notFound;
        key.revoked_at ??= model.now;
        return done;
      });
    },
  }),
);

function stateOf({ rotated, revoked_at }: Key): string {
  if (rotated) return "rotated";
  return revoked_at === null ? "expired" : "revoked";
}

const rotateKey = fc
  .record({
    address: addressOfKeys,
    which: place,
    astray: fc.nat({ max: 3 }),
    overlap: fc.constantFrom(0, 60, 3600, 604_800),
  })
  .map(
    ({ address, which, astray, overlap }): Step => ({
      name: `rotate key ${which}${astray === 0 ? ` of ${address.name}` : ""} with overlap ${overlap}`,
      plan(model) {
        const id = pick(model.keys.keys(), which);
        const old = model.keys.get(id);
        const { path, owner } =
          astray === 0 ? address.find(model) : homeOf(model, old?.owner ?? NOBODY, which);
        return send("POST", `${path}/${id}/rotate`, { overlap_seconds: overlap }, (given) => {
          if (owner === undefined || old?.owner !== owner) return notFound;
          const over = stateOf(old);
          if (over === "rotated" || !model.isUsable(old)) {
            return { status: 409, code: "CONFLICT", details: { field: "status", value: over } };
          }
          const { name, lifetimeMs } = old;
          const next = model.addKey({
            id: String(given.id),
            key: String(given.key),
            owner,
            name,
            lifetimeMs,
          });
          old.rotated = true;
          if (overlap === 0) old.revoked_at = model.now;
          const overlapEnds = model.now + overlap * 1000;
          old.expires_at = Math.min(old.expires_at ?? overlapEnds, overlapEnds);
          return createdKey(model, next);
        });
      },
    }),
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

const mint = fc.record({ who: place, which: place }).map(
  ({ who, which }): Step => ({
    name: `session of person ${who} in organization ${which}`,
    plan(model) {
      const person = aPerson(model, who);
      const organization = anOrganization(model, which);
      return call("POST", `/users/${person}/organizations/${organization}/session`, (given) => {
        const member = model.membership(organization, person);
        if (member?.status !== "active" || model.people.get(person)?.status !== "active") return notFound;
        const session = {
          token: String(given.token),
          member: member.id,
          expires_at: model.now + 3_600_000,
        };
        model.sessions.push(session);
        const { valid, realm, plan, ...now } = model.validate(session.token);
        const note = { organization_id: organization, member_id: member.id };
        return { status: 201, body: { token: session.token, role: member.role, ...now }, note };
      });
    },
  }),
);

const validate = place.map(
  (which): Step => ({
    name: `validate credential ${which}`,
    plan(model) {
      const credentials = [
        ...[...model.keys.values()].map(({ key }) => key),
        ...model.sessions.map(({ token }) => token),
      ].reverse();
      const credential = pick(credentials, which);
      return send("POST", "/internal/credentials/validate", { credential }, () => ({
        status: 200,
        body: model.use(credential),
      }));
    },
  }),
);

const wait = fc.constantFrom(1, -1, -60_000, 59_999, 60_000, 3_599_999, 3_600_000, WEEK_MS).map(
  (timeMs): Step => ({
    name: `wait ${timeMs} ms`,
    plan(model) {
      model.now += timeMs;
      return null;
    },
  }),
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
