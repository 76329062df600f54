import fc from "fast-check";
import {
  anOrganization,
  aPerson,
  call,
  done,
  invalid,
  listOf,
  noteOf,
  notFound,
  organizationOf,
  pick,
  place,
  role,
  send,
  steps,
  text,
} from "./model-steps.ts";

const DAY_SECONDS = 86_400;
const EXPIRES_SECONDS_DEFAULT = 7 * DAY_SECONDS;

const inviteBody = fc.record(
  {
    email: text,
    role: fc.constantFrom("admin", "viewer", "owner", "owner", "admin", "member"),
    expires_in_seconds: fc.constantFrom(60, 3600, 30 * DAY_SECONDS),
    max_uses: fc.constantFrom(1, 2, null, null),
  },
  { requiredKeys: [] },
);

const createInvite = steps(
  "create an invite",
  { which: place, body: inviteBody },
  (model, { which, body }) => {
    const organization = anOrganization(model, which);
    const { email, role = "member", expires_in_seconds = EXPIRES_SECONDS_DEFAULT, max_uses = 1 } = body;
    return send("POST", `/organizations/${organization}/invites`, body, (given) => {
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
        ...(email !== undefined && { email: email.trim() }),
      };
      model.invites.set(invite.id, invite);
      const note = { created: invite.id, details: { invite_id: invite.id, role } };
      return { status: 201, body: model.shownInvite(invite), note };
    });
  },
);

const redeem = steps("redeem an invite", { who: place, which: place }, (model, { who, which }) => {
  const person = aPerson(model, who);
  const invite = model.invites.get(pick(model.invites.keys(), which));
  const body = { token: invite?.token ?? "inv_unknown" };
  return send("POST", `/users/${person}/invites/redeem`, body, (given) => {
    if (!model.people.has(person) || !invite) return notFound;
    const { status, role, organization, max_uses } = model.look(invite);
    if (status !== "active") {
      return { status: 409, code: "CONFLICT", details: { field: "status", value: status } };
    }
    invite.use_count += 1;
    if (invite.use_count === max_uses) invite.status = "redeemed";
    const known = model.membership(organization, person);
    const note = { organization_id: organization };
    if (known) return { status: 200, body: model.shownMember(known), note: { ...note, member_id: known.id } };
    const member = model.join({ id: String(given.id), organization, person, account: null, role });
    const { id } = member;
    const joined = { ...note, created: id, member_id: id };
    return { status: 201, body: model.shownMember(member), note: joined };
  });
});

const revokeInvite = steps("revoke an invite", { which: place, where: place }, (model, { which, where }) => {
  const id = pick(model.invites.keys(), which);
  const invite = model.invites.get(id);
  const organization = organizationOf(model, invite, where);
  return call("DELETE", `/organizations/${organization}/invites/${id}`, () => {
    if (invite?.organization !== organization) return notFound;
    if (model.look(invite).status === "active") invite.status = "revoked";
    return done;
  });
});

const listInvites = listOf("invites", (model, id) =>
  [...model.invites.values()]
    .filter(({ organization }) => organization === id)
    .map((invite) => model.shownInvite(invite)),
);

const createAccount = steps(
  "create a service account",
  { which: place, name: text, role },
  (model, { which, name, role }) => {
    const organization = anOrganization(model, which);
    const body = { name, ...(role && { role }) };
    return send("POST", `/organizations/${organization}/service-accounts`, body, (given) => {
      if (!model.organizations.has(organization)) return notFound;
      const [id, member_id] = [String(given.id), String(given.member_id)];
      const account = { id, organization, member: member_id, name: name.trim() };
      model.accounts.set(id, account);
      const member = { id: member_id, organization, person: null, account: id, role: role ?? "viewer" };
      model.join(member);
      const details = { service_account_id: id, member_id, name: account.name, role: member.role };
      return { status: 201, body: model.shownAccount(account), note: { created: id, details } };
    });
  },
);

const touchAccount = steps(
  "read, rename or delete a service account",
  { which: place, where: place, name: text, method: fc.constantFrom("GET", "PATCH", "DELETE") },
  (model, { which, where, name, method }) => {
    const id = pick(model.accounts.keys(), which);
    const organization = organizationOf(model, model.accounts.get(id), where);
    const body = method === "PATCH" ? { name } : undefined;
    return send(method, `/organizations/${organization}/service-accounts/${id}`, body, () => {
      const account = model.account(id, organization);
      const member = account && model.member(account.member);
      if (!account || !member) return notFound;
      if (method === "DELETE") {
        if (model.isNeeded(member)) return invalid;
        model.remove(member);
        return done;
      }
      const before = { name: account.name };
      if (method === "PATCH") account.name = name.trim();
      return { status: 200, body: model.shownAccount(account), note: noteOf(before, account) };
    });
  },
);

export const joinSteps = [
  createInvite,
  createInvite,
  redeem,
  redeem,
  revokeInvite,
  listInvites,
  createAccount,
  touchAccount,
];
