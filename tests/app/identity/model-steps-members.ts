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
  text,
} from "./model-steps.ts";

const subjectOf = (model: Model, number: number) => `${model.run}-${number}`;

const signInAs = (number: number): Step => ({
  name: `sign in as ${number}`,
  plan(model) {
    const subject = subjectOf(model, number);
    return send("POST", "/internal/credentials/validate", { idp: { issuer: ISSUER, subject } }, (given) => {
      const known = model.personOf(subject);
      if (known?.status === "suspended") return { status: 200, body: { valid: false } };
      const id = known?.id ?? String(given.user_id);
      if (!known) model.people.set(id, { id, subject, name: null, status: "active" });
      return { status: 200, body: { valid: true, realm: "directory", user_id: id } };
    });
  },
});
const signIn = fc.nat({ max: 4 }).map(signInAs);

const changePerson = fc
  .record({
    who: place,
    name: fc.option(text),
    status: fc.constantFrom("active", "suspended"),
    named: fc.boolean(),
  })
  .map(
    ({ who, name, status, named }): Step => ({
      name: named ? `name person ${who} ${name}` : `make person ${who} ${status}`,
      plan(model) {
        const id = aPerson(model, who);
        return send(
          "PATCH",
          named ? `/users/${id}` : `/users/${id}/status`,
          named ? { display_name: name } : { status },
          () => {
            const person = model.people.get(id);
            if (!person) return notFound;
            const before = { display_name: person.name, status: person.status };
            if (!named) person.status = status === "active" ? "active" : "suspended";
            else person.name = name?.trim() ?? null;
            const body = { id, display_name: person.name, status: person.status };
            return { status: 200, body, note: noteOf(before, body) };
          },
        );
      },
    }),
  );

const deletePerson = place.map(
  (who): Step => ({
    name: `delete person ${who}`,
    plan(model) {
      const id = aPerson(model, who);
      return call("DELETE", `/users/${id}`, () => {
        const person = model.people.get(id);
        if (!person) return notFound;
        const needing = [...model.members.values()]
          .filter((member) => member.person === id && member.status !== "removed" && model.isNeeded(member))
          .map(({ organization }) => ({
            id: organization,
            name: model.organizations.get(organization)?.name,
          }))
          .sort((a, b) => (a.id < b.id ? -1 : 1));
        if (needing.length > 0) {
          const details = { organizations: needing };
          return { status: 409, code: "ORGANIZATION_HANDOFF_REQUIRED", details };
        }
        model.deletePerson(person);
        return done;
      });
    },
  }),
);

const organizationBy = ({ who, name }: { who: number; name: string }): Step => ({
  name: `organization ${name} of person ${who}`,
  plan(model) {
    const person = aPerson(model, who);
    return send("POST", `/users/${person}/organizations`, { name }, (given) => {
      if (!model.people.has(person)) return notFound;
      const organization = { id: String(given.id), name: name.trim(), plan: null };
      model.organizations.set(organization.id, organization);
      const { id } = organization;
      model.events.push({
        type: "organization.created",
        organization_id: id,
        data: { name: organization.name },
      });
      const member_id = String(given.member_id);
      model.join({ id: member_id, organization: id, person, account: null, role: "owner" });
      const note = { created: id, organization_id: id, member_id };
      return { status: 201, body: { ...organization }, note };
    });
  },
});
const createOrganization = fc.record({ who: place, name: text }).map(organizationBy);

const renameOrDeleteOrganization = fc
  .record({ which: place, name: text, deleted: fc.integer({ min: 0, max: 3 }) })
  .map(
    ({ which, name, deleted }): Step => ({
      name: deleted === 0 ? `delete organization ${which}` : `rename organization ${which} to ${name}`,
      plan(model) {
        const id = anOrganization(model, which);
        return send(
          deleted === 0 ? "DELETE" : "PATCH",
          `/organizations/${id}`,
          deleted !== 0 ? { name } : undefined,
          () => {
            const organization = model.organizations.get(id);
            if (!organization) return notFound;
            if (deleted === 0) {
              model.deleteOrganization(organization);
              return done;
            }
            const before = { ...organization };
            organization.name = name.trim();
            return { status: 200, body: { ...organization }, note: noteOf(before, organization) };
          },
        );
      },
    }),
  );

const changePlan = fc.record({ which: place, plan: fc.constantFrom("pro", "free", null) }).map(
  ({ which, plan }): Step => ({
    name: `change organization ${which} to plan ${plan}`,
    plan(model) {
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
  }),
);

const additionOf = ({ which, subject, role }: { which: number; subject: number; role?: string }): Step => ({
  name: `add subject ${subject} to organization ${which} as ${role}`,
  plan(model) {
    const organization = anOrganization(model, which);
    return send(
      "POST",
      `/organizations/${organization}/members`,
      { idp: { issuer: ISSUER, subject: subjectOf(model, subject) }, ...(role && { role }) },
      (given) => {
        if (!model.organizations.has(organization)) return notFound;
        const person = model.personOf(subjectOf(model, subject));
        if (person && model.membership(organization, person.id)) {
          return { status: 409, code: "CONFLICT", details: { field: "idp" } };
        }
        const id = person?.id ?? String(given.user_id);
        if (!person) {
          model.people.set(id, { id, subject: subjectOf(model, subject), name: null, status: "active" });
        }
        const member = model.join({
          id: String(given.id),
          organization,
          person: id,
          account: null,
          role: role ?? "member",
        });
        const note = { created: member.id, details: { member_id: member.id, role: member.role } };
        return { status: 201, body: model.shownMember(member), note };
      },
    );
  },
});
const addMember = fc.record({ which: place, subject: fc.nat({ max: 4 }), role }).map(additionOf);

const change = fc.record(
  {
    status: fc.constantFrom("active", "active", "suspended", "suspended"),
    role: fc.constantFrom("owner", "owner", "admin", "member", "member"),
    display_name: fc.option(text),
  },
  { requiredKeys: [] },
);

const changeMember = fc.record({ which: place, change, own: fc.boolean(), where: place }).map(
  ({ which, change, own, where }): Step => ({
    name: `change member ${which} ${own ? "by itself" : "in its organization"}: ${JSON.stringify(change)}`,
    plan(model) {
      const id = pick(model.members.keys(), which);
      const organization = own ? undefined : organizationOf(model, model.members.get(id), where);
      const { role: _, ...allowed } = change;
      const body = own ? allowed : change;
      return send(
        "PATCH",
        own ? `/members/${id}` : `/organizations/${organization}/members/${id}`,
        body,
        () => settleChange(model, model.member(id, organization), body),
      );
    },
  }),
);

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

const removeMember = fc.record({ which: place, own: fc.boolean(), where: place }).map(
  ({ which, own, where }): Step => ({
    name: `remove member ${which} ${own ? "by itself" : "from its organization"}`,
    plan(model) {
      const id = pick(model.members.keys(), which);
      const organization = own ? undefined : organizationOf(model, model.members.get(id), where);
      return call("DELETE", own ? `/members/${id}` : `/organizations/${organization}/members/${id}`, () => {
        const member = model.member(id, organization);
        if (!member) return notFound;
        if (model.isNeeded(member)) return invalid;
        model.remove(member);
        return done;
      });
    },
  }),
);

const readMember = fc.record({ which: place, own: fc.boolean(), where: place }).map(
  ({ which, own, where }): Step => ({
    name: `read member ${which} ${own ? "by itself" : "in its organization"}`,
    plan(model) {
      const id = pick(model.members.keys(), which);
      const organization = own ? undefined : organizationOf(model, model.members.get(id), where);
      return call("GET", own ? `/members/${id}` : `/organizations/${organization}/members/${id}`, () => {
        const member = own ? model.member(id) : model.members.get(id);
        if (!member || (organization !== undefined && member.organization !== organization)) return notFound;
        return { status: 200, body: model.shownMember(member) };
      });
    },
  }),
);

const readPersonOfMember = place.map(
  (which): Step => ({
    name: `person of member ${which}`,
    plan(model) {
      const id = pick(model.members.keys(), which);
      return call("GET", `/members/${id}/user`, () => {
        const user_id = model.members.get(id)?.person;
        return user_id ? { status: 200, body: { user_id } } : notFound;
      });
    },
  }),
);

const listMembers = listOf("members", (model, id) =>
  model.living(id).map((member) => model.shownMember(member)),
);

const listMemberships = place.map(
  (who): Step => ({
    name: `memberships of person ${who}`,
    plan(model) {
      const id = aPerson(model, who);
      return call("GET", `/users/${id}/memberships?limit=100`, () => {
        if (!model.people.has(id)) return notFound;
        const memberships = [...model.members.values()]
          .filter((member) => member.person === id && member.status === "active")
          .map((member) => ({
            id: member.id,
            organization: {
              id: member.organization,
              name: model.organizations.get(member.organization)?.name,
            },
            role: member.role,
            status: "active",
          }));
        return { status: 200, body: { memberships, has_more: false } };
      });
    },
  }),
);

/** The first steps of every sequence. They create people, an organization and members for later steps. */
export const openingSteps: Step[] = [
  signInAs(0),
  signInAs(1),
  signInAs(2),
  organizationBy({ who: 2, name: "Opening" }),
  additionOf({ which: 0, subject: 1, role: "owner" }),
  additionOf({ which: 0, subject: 2, role: "viewer" }),
];

export const memberSteps = [
  signIn,
  signIn,
  changePerson,
  deletePerson,
  createOrganization,
  createOrganization,
  renameOrDeleteOrganization,
  changePlan,
  addMember,
  addMember,
  changeMember,
  changeMember,
  removeMember,
  readMember,
  readPersonOfMember,
  listMembers,
  listMemberships,
];
