import { expect, test } from "bun:test";
import { storeLastUses } from "@ostiary/identity/api-keys/last-use-writer";
import fc from "fast-check";
import { useIdentity } from "./bed.ts";
import type { Answer, IdentityHarness } from "./harness.ts";
import { Model } from "./model.ts";
import type { Given, Step } from "./model-steps.ts";
import { credentialSteps } from "./model-steps-credentials.ts";
import { joinSteps } from "./model-steps-joins.ts";
import { memberSteps, openingSteps } from "./model-steps-members.ts";

/** The number of random sequences. IDENTITY_MODEL_RUNS can set more than the test suite has time for. */
const RUNS = Number(process.env.IDENTITY_MODEL_RUNS ?? 40);
const STEPS_MAX = 120;

const identity = useIdentity();

class Call implements fc.AsyncCommand<Model, IdentityHarness> {
  readonly step: Step;
  constructor(step: Step) {
    this.step = step;
  }

  check() {
    return true;
  }

  async run(model: Model, real: IdentityHarness): Promise<void> {
    const planned = this.step.plan(model);
    real.clock.set(model.now);
    if (planned === null) return;
    const { method, path, body } = planned;
    const answer = await (path.startsWith("/internal/") ? real.internal : real.call)(method, path, body);
    await storeLastUses(real.deps);
    const expected = planned.settle(await givenBy(real, answer));
    const { status, code, details } = expected;
    const error = answer.body?.error;
    const seen = {
      status: answer.status,
      code: error?.code,
      ...(details !== undefined && { details: error?.details }),
    };
    expect(seen).toEqual({ status, code, ...(details !== undefined && { details }) });
    if (expected.body !== undefined) expect(comparable(answer.body)).toEqual(comparable(expected.body));
  }

  toString() {
    return this.step.name;
  }
}

/**
 * Returns the values that the model takes from the response of a successful creation. Adds ids that the body
 * lacks: the member's from the audit note, and the person's from another request.
 */
async function givenBy(real: IdentityHarness, { status, body, note }: Answer): Promise<Given> {
  if (status !== 201) return body ?? {};
  const given: Given = { ...body };
  given.member_id ??= note.member_id;
  if (body.principal === "user") {
    given.user_id = (await real.call("GET", `/members/${body.id}/user`)).body.user_id;
  }
  return given;
}

/** Returns a body without `created_at` and `updated_at`, and with `revoked_at` as a boolean. */
function comparable(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(comparable);
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== "created_at" && name !== "updated_at")
      .map(([name, value]) => [name, name === "revoked_at" ? Boolean(value) : comparable(value)]),
  );
}

/**
 * Compares the final state with the model: each credential and member, and the lists of members and invites.
 */
async function sweep(model: Model): Promise<void> {
  const credentials = [
    ...[...model.keys.values()].map(({ key }) => key),
    ...model.sessions.map(({ token }) => token),
  ];
  for (const credential of credentials) {
    expect(await identity.validate(credential)).toEqual(model.validate(credential));
  }
  for (const member of model.members.values()) {
    const { body } = await identity.call("GET", `/organizations/${member.organization}/members/${member.id}`);
    expect(comparable(body)).toEqual(comparable(model.shownMember(member)));
  }
  for (const id of model.organizations.keys()) {
    const members = await identity.call("GET", `/organizations/${id}/members?limit=100`);
    expect(comparable(members.body.members)).toEqual(
      model.living(id).map((member) => model.shownMember(member)),
    );
    const invites = await identity.call("GET", `/organizations/${id}/invites?limit=100`);
    const own = [...model.invites.values()].filter(({ organization }) => organization === id);
    expect(comparable(invites.body.invites)).toEqual(own.map((invite) => model.shownInvite(invite)));
  }
}

// ID-27, ID-29, ID-37, ID-101
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
      const told = body.lifecycle_events.map(({ type, organization_id, data }: Record<string, unknown>) => ({
        type,
        organization_id,
        data,
      }));
      expect(told).toEqual(model.events);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}, 300_000);
