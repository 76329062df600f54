import fc from "fast-check";
import { ISSUER } from "./bed.ts";
import type { Member, Model } from "./model.ts";
import {
  anOrganization,
  aPerson,
  call,
  done,
  type Expected,
  invalid,
  listOf,
  noteOf,
  notFound,
  organizationOf,
  pick,
  place,
  role,
  type Step,
  send,
  steps,
  text,
} from "./model-steps.ts";

const subjectOf = (model: Model, number: number) => `${model.run}-${number}`;

const signIn = (model: Model, { number }: { number: number }) => {
  const subject = subjectOf(model, number);
  return send("POST", "/internal/credentials/validate", { idp: { issuer: ISSUER, subject } }, (given) => {
    const known = model.personOf(subject);
    if (known?.status === "suspended") return { status: 200, body: { valid: false } };
    const id = known?.id ?? String(given.user_id);
    if (!known) model.people.set(id, { id, subject, name: null, status: "active" });
    return { status: 200, body: { valid: true, realm: "directory", user_id: id } };
  });
};

const changePerson = steps(
  "name or suspend a person",
  { who: place, name: fc.option(text), status: fc.constantFrom("active", "suspended"), named: fc.boolean() },
  (model, { who, name, status, named }) => {
    const id = aPerson(model, who);
    const [path, change] = named ? ["", { display_name: name }] : ["/status", { status }];
    return send("PATCH", `/users/${id}${path}`, change, () => {
      const person = model.people.get(id);
      if (!person) return notFound;
      const before = { display_name: person.name, status: person.status };
      if (!named) person.status = status === "active" ? "active" : "suspended";
      else person.name = name?.trim() ?? null;
      const body = { id, display_name: person.name, status: person.status };
      return { status: 200, body, note: noteOf(before, body) };
    });
  },
);

const deletePerson = steps("delete a person", { who: place }, (model, { who }) => {
  const id = aPerson(model, who);
  return call("DELETE", `/users/${id}`, () => {
    const person = model.people.get(id);
    if (!person) return notFound;
    const needing = [...model.members.values()]
      .filter((member) => member.person === id && member.status !== "removed" && model.isNeeded(member))
      .map(({ organization: id }) => ({ id, name: model.organizations.get(id)?.name }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const details = { organizations: needing };
    if (needing.length > 0) return { status: 409, code: "ORGANIZATION_HANDOFF_REQUIRED", details };
    model.deletePerson(person);
    return done;
  });
});

const createOrganization = (model: Model, { who, name }: { who: number; name: string }) => {
  const person = aPerson(model, who);
  return send("POST", `/users/${person}/organizations`, { name }, (given) => {
    if (!model.people.has(person)) return notFound;
    const organization = { id: String(given.id), name: name.trim(), plan: null };
    model.organizations.set(organization.id, organization);
    const { id, plan: _, ...data } = organization;
    model.events.push({ type: "organization.created", organization_id: id, data });
    const member_id = String(given.member_id);
    model.join({ id: member_id, organization: id, person, account: null, role: "owner" });
    const note = { created: id, organization_id: id, member_id };
    return { status: 201, body: { ...organization }, note };
  });
};

const renameOrDeleteOrganization = steps(
  "rename or delete an organization",
  { which: place, name: text, deleted: fc.integer({ min: 0, max: 3 }) },
  (model, { which, name, deleted }) => {
    const id = anOrganization(model, which);
    const [method, body] = deleted === 0 ? (["DELETE", undefined] as const) : (["PATCH", { name }] as const);
    return send(method, `/organizations/${id}`, body, () => {
      const organization = model.organizations.get(id);
      if (!organization) return notFound;
      if (deleted === 0) {
        model.deleteOrganization(organization);
        return done;
      }
      const before = { ...organization };
      organization.name = name.trim();
      return { status: 200, body: { ...organization }, note: noteOf(before, organization) };
    });
  },
);

const changePlan = steps(
  "change a plan",
  { which: place, plan: fc.constantFrom("pro", "free", null) },
  (model, { which, plan }) => {
    const id = anOrganization(model, which);
    return send("PATCH", `/organizations/${id}/plan`, { plan }, () => {
      const organization = model.organizations.get(id);
      if (!organization) return notFound;
      const before = { ...organization };
      if (organization.plan !== plan) {
        organization.plan = plan;
        const data = { name: organization.name, plan };
        model.events.push({ type: "organization.plan_changed", organization_id: id, data });
      }
      return { status: 200, body: { ...organization }, note: noteOf(before, organization) };
    });
  },
);

interface Addition {
  which: number;
  number: number;
  role?: string;
}

const addMember = (model: Model, { which, number, role }: Addition) => {
  const organization = anOrganization(model, which);
  const subject = subjectOf(model, number);
  const body = { idp: { issuer: ISSUER, subject }, ...(role && { role }) };
  return send("POST", `/organizations/${organization}/members`, body, (given) => {
    if (!model.organizations.has(organization)) return notFound;
    const known = model.personOf(subject);
    if (known && model.membership(organization, known.id)) {
      return { status: 409, code: "CONFLICT", details: { field: "idp" } };
    }
    const person = known?.id ?? String(given.user_id);
    if (!known) model.people.set(person, { id: person, subject, name: null, status: "active" });
    const id = String(given.id);
    const member = model.join({ id, organization, person, account: null, role: role ?? "member" });
    const note = { created: id, details: { member_id: id, role: member.role } };
    return { status: 201, body: model.shownMember(member), note };
  });
};

const change = fc.record(
  {
    status: fc.constantFrom("active", "active", "suspended", "suspended"),
    role: fc.constantFrom("owner", "owner", "admin", "member", "member"),
    display_name: fc.option(text),
  },
  { requiredKeys: [] },
);

/** Generates a member, and one of its two paths: its own, or the one in an organization. */
const addressOfMember = fc
  .record({ which: place, own: fc.boolean(), where: place })
  .map(({ which, own, where }) => ({
    name: `member ${which} ${own ? "by itself" : "in its organization"}`,
    own,
    find(model: Model) {
      const id = pick(model.members.keys(), which);
      const organization = own ? undefined : organizationOf(model, model.members.get(id), where);
      const path = own ? `/members/${id}` : `/organizations/${organization}/members/${id}`;
      return { id, organization, path };
    },
  }));

const changeMember = steps("change", { address: addressOfMember, change }, (model, { address, change }) => {
  const { id, organization, path } = address.find(model);
  const { role: _, ...allowed } = change;
  const body = address.own ? allowed : change;
  return send("PATCH", path, body, () => settleChange(model, model.member(id, organization), body));
});

function settleChange(
  model: Model,
  member: Member | undefined,
  { status, role, display_name }: { status?: string; role?: string; display_name?: string | null },
): Expected {
  if (status === undefined && role === undefined && display_name === undefined) return invalid;
  if (!member) return notFound;
  if (display_name !== undefined && member.account !== null) return invalid;
  if (role !== undefined && role !== "owner" && model.isLastOwner(member)) return invalid;
  const before = { status: member.status, role: member.role, display_name: member.name };
  member.role = role ?? member.role;
  if (status !== undefined) member.status = status === "active" ? "active" : "suspended";
  if (display_name !== undefined) member.name = display_name?.trim() ?? null;
  const note = noteOf(before, { ...member, display_name: member.name });
  return { status: 200, body: model.shownMember(member), note };
}

const removeMember = steps("remove", { address: addressOfMember }, (model, { address }) => {
  const { id, organization, path } = address.find(model);
  return call("DELETE", path, () => {
    const member = model.member(id, organization);
    if (!member) return notFound;
    if (model.isNeeded(member)) return invalid;
    model.remove(member);
    return done;
  });
});

const readMember = steps("read", { address: addressOfMember }, (model, { address }) => {
  const { id, organization, path } = address.find(model);
  return call("GET", path, () => {
    const member = address.own ? model.member(id) : model.members.get(id);
    if (!member || (organization !== undefined && member.organization !== organization)) return notFound;
    return { status: 200, body: model.shownMember(member) };
  });
});

const readPersonOfMember = steps("read the person of a member", { which: place }, (model, { which }) => {
  const id = pick(model.members.keys(), which);
  return call("GET", `/members/${id}/user`, () => {
    const user_id = model.members.get(id)?.person;
    return user_id ? { status: 200, body: { user_id } } : notFound;
  });
});

const listMembers = listOf("members", (model, id) =>
  model.currentMembers(id).map((member) => model.shownMember(member)),
);

const listMemberships = steps("list memberships", { who: place }, (model, { who }) => {
  const id = aPerson(model, who);
  return call("GET", `/users/${id}/memberships?limit=100`, () => {
    if (!model.people.has(id)) return notFound;
    const memberships = [...model.members.values()]
      .filter((member) => member.person === id && member.status === "active")
      .map(({ id, organization, role, status }) => ({
        id,
        organization: { id: organization, name: model.organizations.get(organization)?.name },
        role,
        status,
      }));
    return { status: 200, body: { memberships, has_more: false } };
  });
});

/** The first steps of every sequence. They create people, an organization and members for later steps. */
export const openingSteps: Step[] = [
  ...[0, 1, 2].map((number) => ({ name: "sign in", plan: (model: Model) => signIn(model, { number }) })),
  { name: "create", plan: (model) => createOrganization(model, { who: 2, name: "Opening" }) },
  { name: "add", plan: (model) => addMember(model, { which: 0, number: 1, role: "owner" }) },
  { name: "add", plan: (model) => addMember(model, { which: 0, number: 2, role: "viewer" }) },
];

const number = fc.nat({ max: 4 });
const signIns = steps("sign in", { number }, signIn);
const organizations = steps("create an organization", { who: place, name: text }, createOrganization);
const additions = steps("add a member", { which: place, number, role }, addMember);

export const memberSteps = [
  signIns,
  signIns,
  changePerson,
  deletePerson,
  organizations,
  organizations,
  renameOrDeleteOrganization,
  changePlan,
  additions,
  additions,
  changeMember,
  changeMember,
  removeMember,
  readMember,
  readPersonOfMember,
  listMembers,
  listMemberships,
];
