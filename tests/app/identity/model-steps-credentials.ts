import fc from "fast-check";
import { NOBODY } from "./harness.ts";
import type { Model } from "./model.ts";
import {
  anOrganization,
  anyText,
  aPerson,
  done,
  type Expected,
  invalid,
  isText,
  notFound,
  organizationOf,
  pick,
  place,
  role,
  type Step,
} from "./model-steps.ts";

const DAY_SECONDS = 86_400;
const EXPIRES_SECONDS_DEFAULT = 7 * DAY_SECONDS;

/** Generates mostly a valid value. */
const mostly = (good: unknown[], wrong: unknown[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...good) }, fc.constantFrom(...wrong));

const inviteBody = fc.record(
  {
    email: anyText,
    role: fc.constantFrom("admin", "viewer", "owner", "owner", "admin", "member", "nobody"),
    expires_in_seconds: mostly([60, 3600, 30 * DAY_SECONDS], [59, 30 * DAY_SECONDS + 1, 1.5, "60", null]),
    max_uses: mostly([1, 2, null, null], [0, -1, 1.5, 2 ** 31, "1"]),
  },
  { requiredKeys: [] },
);

const createInvite = fc.record({ which: place, body: inviteBody }).map(
  ({ which, body }): Step => ({
    name: `invite to organization ${which}: ${JSON.stringify(body)}`,
    plan(model) {
      const organization = anOrganization(model, which);
      const { email, role = "member", expires_in_seconds = EXPIRES_SECONDS_DEFAULT, max_uses = 1 } = body;
      return {
        method: "POST",
        path: `/organizations/${organization}/invites`,
        body,
        settle(given) {
          const expires = [60, 3600, 30 * DAY_SECONDS, EXPIRES_SECONDS_DEFAULT].includes(
            Number(expires_in_seconds),
          );
          const uses = max_uses === null || max_uses === 1 || max_uses === 2;
          if (role === "nobody" || !expires || typeof expires_in_seconds !== "number" || !uses)
            return invalid;
          // An email may be longer than a name.
          if (email !== undefined && !isText(email) && email !== "x".repeat(129)) return invalid;
          if (!model.organizations.has(organization)) return notFound;
          const invite = {
            id: String(given.id),
            organization,
            role,
            token: String(given.token),
            status: "active" as const,
            max_uses,
            use_count: 0,
            expires_at: model.now + expires_in_seconds * 1000,
            ...(typeof email === "string" && { email: email.trim() }),
          };
          model.invites.set(invite.id, invite);
          return { status: 201, body: model.shownInvite(invite) };
        },
      };
    },
  }),
);

const redeem = fc.record({ who: place, which: place }).map(
  ({ who, which }): Step => ({
    name: `person ${who} redeems invite ${which}`,
    plan(model) {
      const person = aPerson(model, who);
      const invite = model.invites.get(pick(model.invites.keys(), which));
      return {
        method: "POST",
        path: `/users/${person}/invites/redeem`,
        body: { token: invite?.token ?? "inv_unknown" },
        settle(given) {
          if (!model.people.has(person) || !invite) return notFound;
          const { status, role, organization, max_uses } = model.look(invite);
          if (status !== "active") {
            return { status: 409, code: "CONFLICT", details: { field: "status", value: status } };
          }
          invite.use_count += 1;
          if (invite.use_count === max_uses) invite.status = "redeemed";
          const known = model.membership(organization, person);
          if (known) return { status: 200, body: model.shownMember(known) };
          const member = model.join({ id: String(given.id), organization, person, account: null, role });
          return { status: 201, body: model.shownMember(member) };
        },
      };
    },
  }),
);

const revokeInvite = fc.record({ which: place, where: place }).map(
  ({ which, where }): Step => ({
    name: `revoke invite ${which}`,
    plan(model) {
      const id = pick(model.invites.keys(), which);
      const invite = model.invites.get(id);
      const organization = organizationOf(model, invite, where);
      return {
        method: "DELETE",
        path: `/organizations/${organization}/invites/${id}`,
        settle() {
          if (invite?.organization !== organization) return notFound;
          if (model.look(invite).status === "active") invite.status = "revoked";
          return done;
        },
      };
    },
  }),
);

const listInvites = place.map(
  (which): Step => ({
    name: `invites of organization ${which}`,
    plan(model) {
      const id = anOrganization(model, which);
      return {
        method: "GET",
        path: `/organizations/${id}/invites?limit=100`,
        settle() {
          if (!model.organizations.has(id)) return notFound;
          const own = [...model.invites.values()].filter(({ organization }) => organization === id);
          const invites = own.map((invite) => model.shownInvite(invite));
          return { status: 200, body: { invites, has_more: false } };
        },
      };
    },
  }),
);

const createAccount = fc.record({ which: place, name: anyText, role }).map(
  ({ which, name, role }): Step => ({
    name: `service account ${name} in organization ${which} as ${role}`,
    plan(model) {
      const organization = anOrganization(model, which);
      return {
        method: "POST",
        path: `/organizations/${organization}/service-accounts`,
        body: { name, ...(role && { role }) },
        settle(given) {
          if (!isText(name)) return invalid;
          if (!model.organizations.has(organization)) return notFound;
          const account = {
            id: String(given.id),
            organization,
            member: String(given.member_id),
            name: name.trim(),
          };
          model.accounts.set(account.id, account);
          const member = { id: account.member, organization, person: null, account: account.id };
          model.join({ ...member, role: role ?? "viewer" });
          return { status: 201, body: model.shownAccount(account) };
        },
      };
    },
  }),
);

const touchAccount = fc
  .record({ which: place, where: place, name: anyText, method: fc.constantFrom("GET", "PATCH", "DELETE") })
  .map(
    ({ which, where, name, method }): Step => ({
      name: `${method} service account ${which}${method === "PATCH" ? ` ${name}` : ""}`,
      plan(model) {
        const id = pick(model.accounts.keys(), which);
        const organization = organizationOf(model, model.accounts.get(id), where);
        return {
          method,
          path: `/organizations/${organization}/service-accounts/${id}`,
          ...(method === "PATCH" && { body: { name } }),
          settle() {
            if (method === "PATCH" && !isText(name)) return invalid;
            const account = model.account(id, organization);
            const member = account && model.member(account.member);
            if (!account || !member) return notFound;
            if (method === "DELETE") {
              if (model.isNeeded(member)) return invalid;
              model.remove(member);
              return done;
            }
            if (method === "PATCH") account.name = String(name).trim();
            return { status: 200, body: model.shownAccount(account) };
          },
        };
      },
    }),
  );

/** One of the three addresses of keys, with the owner. */
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

const KEY_SECONDS = [60, 3600, 315_360_000];
const keyBody = fc.record(
  { name: anyText, expires_in_seconds: mostly(KEY_SECONDS, [59, 315_360_001, 60.5, "60", null]) },
  { requiredKeys: [] },
);

const createKey = fc.record({ address: addressOfKeys, body: keyBody }).map(
  ({ address, body }): Step => ({
    name: `key ${JSON.stringify(body)} of ${address.name}`,
    plan(model) {
      const { path, owner } = address.find(model);
      return {
        method: "POST",
        path,
        body,
        settle(given) {
          const { name, expires_in_seconds: seconds } = body;
          if (name !== undefined && !isText(name)) return invalid;
          if (seconds !== undefined && !KEY_SECONDS.some((each) => each === seconds)) return invalid;
          if (owner === undefined) return notFound;
          const key = model.addKey({
            id: String(given.id),
            owner,
            name: name?.trim() ?? "Unnamed Key",
            key: String(given.key),
            lifetime_ms: seconds === undefined ? null : Number(seconds) * 1000,
          });
          return { status: 201, body: { ...model.shownKey(key), key: key.key } };
        },
      };
    },
  }),
);

const listKeys = addressOfKeys.map(
  (address): Step => ({
    name: `keys of ${address.name}`,
    plan(model) {
      const { path, owner } = address.find(model);
      return {
        method: "GET",
        path: `${path}?limit=100`,
        settle(): Expected {
          if (owner === undefined) return notFound;
          const own = [...model.keys.values()].filter((key) => key.owner === owner);
          return { status: 200, body: { keys: own.map((key) => model.shownKey(key)), has_more: false } };
        },
      };
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
      return {
        method: "DELETE",
        path: `${path}/${id}`,
        settle() {
          if (owner === undefined || key?.owner !== owner) return notFound;
          key.revoked = true;
          return done;
        },
      };
    },
  }),
);

const OVERLAPS = [0, 60, 3600, 604_800];

const rotateKey = fc
  .record({
    address: addressOfKeys,
    which: place,
    astray: fc.nat({ max: 3 }),
    overlap: mostly(OVERLAPS, [-1, 604_801, "0"]),
  })
  .map(
    ({ address, which, astray, overlap }): Step => ({
      name: `rotate key ${which}${astray === 0 ? ` of ${address.name}` : ""} with overlap ${overlap}`,
      plan(model) {
        const id = pick(model.keys.keys(), which);
        const old = model.keys.get(id);
        const { path, owner } =
          astray === 0 ? address.find(model) : homeOf(model, old?.owner ?? NOBODY, which);
        return {
          method: "POST",
          path: `${path}/${id}/rotate`,
          body: { overlap_seconds: overlap },
          settle(given): Expected {
            if (!OVERLAPS.some((each) => each === overlap)) return invalid;
            if (owner === undefined || old?.owner !== owner) return notFound;
            const over = old.rotated ? "rotated" : old.revoked ? "revoked" : "expired";
            if (over === "rotated" || !model.isUsable(old)) {
              return { status: 409, code: "CONFLICT", details: { field: "status", value: over } };
            }
            const { name, lifetime_ms } = old;
            const next = model.addKey({
              ...{ id: String(given.id), key: String(given.key) },
              ...{ owner, name, lifetime_ms },
            });
            old.rotated = true;
            old.revoked = overlap === 0;
            const overlapEnds = model.now + Number(overlap) * 1000;
            old.expires_at = Math.min(old.expires_at ?? overlapEnds, overlapEnds);
            return { status: 201, body: { ...model.shownKey(next), key: next.key } };
          },
        };
      },
    }),
  );

/** Returns the address of an owner's keys; for a service account one of its two. */
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
      return {
        method: "POST",
        path: `/users/${person}/organizations/${organization}/session`,
        settle(given) {
          const member = model.membership(organization, person);
          if (member?.status !== "active" || model.people.get(person)?.status !== "active") return notFound;
          const session = {
            token: String(given.token),
            member: member.id,
            expires_at: model.now + 3_600_000,
          };
          model.sessions.push(session);
          const { valid, realm, plan, ...now } = model.validate(session.token);
          return { status: 201, body: { token: session.token, role: member.role, ...now } };
        },
      };
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
      return {
        port: "internal",
        method: "POST",
        path: "/internal/credentials/validate",
        body: { credential },
        settle: () => ({ status: 200, body: model.use(credential) }),
      };
    },
  }),
);

const wait = fc
  .constantFrom(1, -1, -60_000, 59_999, 60_000, 3_599_999, 3_600_000, 7 * DAY_SECONDS * 1000)
  .map(
    (time_ms): Step => ({
      name: `wait ${time_ms} ms`,
      plan(model) {
        model.now += time_ms;
        return null;
      },
    }),
  );

export const credentialSteps = [
  createInvite,
  createInvite,
  redeem,
  redeem,
  revokeInvite,
  listInvites,
  createAccount,
  touchAccount,
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
