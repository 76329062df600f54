import { expect, test } from "bun:test";
import fc from "fast-check";
import { storeLastUses } from "../../../apps/identity/api-keys/last-use-writer.ts";
import { runs } from "../../support/runs.ts";
import { type HttpResponse, type IdentityBed, type LifecycleEvent, useIdentity } from "./bed.ts";
import { Model } from "./model.ts";
import type { Given, Step } from "./model-steps.ts";
import { credentialSteps } from "./model-steps-credentials.ts";
import { joinSteps } from "./model-steps-joins.ts";
import { memberSteps, openingSteps } from "./model-steps-members.ts";

const NO_NOTE = { details: null, created: null, organization_id: null, member_id: null };
const STEPS_MAX = 120;

const identity = useIdentity();

class Call implements fc.AsyncCommand<Model, IdentityBed> {
  readonly step: Step;
  constructor(step: Step) {
    this.step = step;
  }

  check() {
    return true;
  }

  async run(model: Model, real: IdentityBed): Promise<void> {
    const planned = this.step.plan(model);
    real.clock.set(model.now);
    if (planned === null) return;
    const { method, path, body } = planned;
    const response = await (path.startsWith("/internal/") ? real.internal : real.call)(method, path, body);
    await storeLastUses(real.deps);
    const expected = planned.settle(await givenBy(real, response));
    const { status, code, details, note = {} } = expected;
    const error = response.body?.error;
    const seen = {
      status: response.status,
      code: error?.code,
      ...(details !== undefined && { details: error?.details }),
    };
    expect(seen).toEqual({ status, code, ...(details !== undefined && { details }) });
    expect(response.note).toEqual({ ...NO_NOTE, ...note });
    if (expected.body !== undefined) expect(comparable(response.body)).toEqual(comparable(expected.body));
  }

  toString() {
    return this.step.name;
  }
}

/**
 * Returns the values that the model takes from the response of a successful creation. Adds ids that the body
 * lacks: the member's from the audit note, and the person's from another request.
 */
async function givenBy(real: IdentityBed, { status, body, note }: HttpResponse): Promise<Given> {
  if (status !== 201) return body ?? {};
  const given: Given = { ...body };
  given.member_id ??= note.member_id;
  if (body.principal === "user") {
    given.user_id = (await real.call("GET", `/members/${body.id}/user`)).body.user_id;
  }
  return given;
}

/** Returns a body without `created_at` and `updated_at`. */
function comparable(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(comparable);
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== "created_at" && name !== "updated_at")
      .map(([name, value]) => [name, comparable(value)]),
  );
}

/**
 * Compares the final state with the model: each credential and member, and the lists of members and invites.
 */
async function sweep(model: Model): Promise<void> {
  for (const credential of model.credentials()) {
    expect(await identity.validate(credential)).toEqual(model.validate(credential));
  }
  for (const member of model.members.values()) {
    const { body } = await identity.call("GET", `/organizations/${member.organization}/members/${member.id}`);
    expect(comparable(body)).toEqual(comparable(model.shownMember(member)));
  }
  for (const id of model.organizations.keys()) {
    const members = await identity.call("GET", `/organizations/${id}/members?limit=100`);
    expect(comparable(members.body.members)).toEqual(
      model.currentMembers(id).map((member) => model.shownMember(member)),
    );
    const invites = await identity.call("GET", `/organizations/${id}/invites?limit=100`);
    const own = [...model.invites.values()].filter(({ organization }) => organization === id);
    expect(comparable(invites.body.invites)).toEqual(own.map((invite) => model.shownInvite(invite)));
    const kept = await identity.sql`select id from identity.invites
      where organization_id = ${id} and status <> 'active' and (token is not null or email is not null)`;
    expect(kept).toEqual([]);
  }
}

// ID-16, ID-17, ID-18, ID-19, ID-20, ID-21, ID-22, ID-23, ID-24, ID-25, ID-26, ID-27, ID-28, ID-29, ID-30, ID-31
// ID-32, ID-33, ID-34, ID-35, ID-36, ID-37, ID-38, ID-40, ID-41, ID-43, ID-44, ID-45, ID-47, ID-48, ID-50, ID-51
// ID-52, ID-53, ID-54, ID-55, ID-57, ID-59, ID-60, ID-61, ID-62, ID-65, ID-66, ID-67, ID-73, ID-76, ID-87, ID-88
// ID-93, ID-94, ID-95, ID-98, ID-99, ID-100, ID-101, ID-111, ID-112, ID-113, ID-115
test("any sequence of calls has the same responses and the same feed as a plain model of the specification", async () => {
  const steps = [...memberSteps, ...joinSteps, ...credentialSteps].map((step) =>
    step.map((each) => new Call(each)),
  );
  const property = fc.asyncProperty(
    fc.commands(steps, { maxCommands: STEPS_MAX, size: "max" }),
    async (commands) => {
      const before = (await identity.events()).at(-1)?.id;
      const model = new Model(identity.clock.now());
      for (const step of openingSteps) await new Call(step).run(model, identity);
      await fc.asyncModelRun(() => ({ model, real: identity }), commands);
      await sweep(model);
      const after = before === undefined ? "" : `&starting_after=${before}`;
      const { body } = await identity.internal("GET", `/internal/lifecycle-events?limit=500${after}`);
      const shown = ({ type, organization_id, data }: LifecycleEvent) => ({ type, organization_id, data });
      expect(body.lifecycle_events.map(shown)).toEqual(model.events);
    },
  );
  await fc.assert(property, { numRuns: runs(6) });
}, 300_000);
