/** Tests the plan of an organization: staff set it, members see it, and validations return it. */
import { describe, expect, test } from "bun:test";
import { services } from "../../support/index.ts";
import { startIdentity, useIdentity, wrongFields } from "./bed.ts";

const identity = useIdentity();

const changeTo = (id: string, plan: unknown, through = identity) =>
  through.call("PATCH", `/organizations/${id}/plan`, { plan });
const planOf = async (id: string) => (await identity.call("GET", `/organizations/${id}`)).body.plan;
const planEvents = async (id: string) =>
  (await identity.events()).filter(
    ({ type, organization_id }) => type === "organization.plan_changed" && organization_id === id,
  );

describe("PATCH /organizations/{organization_id}/plan", () => {
  // ID-112
  test("refuses every invalid value, and writes nothing", async () => {
    const { id } = await identity.organization();
    const wrong = ["", "Pro", "a b", "p".repeat(65), "ä", "a\nb", " pro", 7, true, ["pro"], { name: "pro" }];
    for (const plan of wrong) expect(wrongFields(await changeTo(id, plan))).toEqual(["plan"]);
    const path = `/organizations/${id}/plan`;
    expect(wrongFields(await identity.call("PATCH", path, {}))).toEqual(["plan"]);
    expect(wrongFields(await identity.call("PATCH", path, { plan: "pro", name: "X" }))).toEqual(["name"]);
    expect(await planOf(id)).toBeNull();
    expect(await planEvents(id)).toEqual([]);
    for (const plan of ["p".repeat(64), "a:b._-9"]) expect((await changeTo(id, plan)).body.plan).toBe(plan);
  });
});

// ID-114
test("a new organization has DEFAULT_PLAN, whether a person or staff creates it", async () => {
  await using other = await startIdentity({ defaultPlan: "free" });
  const user_id = await other.person();
  const own = await other.call("POST", `/users/${user_id}/organizations`, { name: "A" });
  const byStaff = await other.call("POST", "/organizations", { name: "A", user_id });
  expect([own.body.plan, byStaff.body.plan]).toEqual(["free", "free"]);
});

describe.skipIf(!services().postgres.real)("under concurrency", () => {
  // ID-113
  test("the feed has concurrent changes on two replicas in their order", async () => {
    const other = await startIdentity({ databaseUrl: identity.databaseUrl });
    const { id } = await identity.organization();
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        changeTo(id, `plan-${index % 3}`, index % 2 === 0 ? identity : other),
      ),
    );
    await other.close();
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    const plans = (await planEvents(id)).map(({ data }) => data.plan);
    expect(plans.at(-1)).toBe(await planOf(id));
    expect(plans.every((plan, index) => plan !== plans[index - 1])).toBe(true);
    const changed = responses.filter(({ note }) => note?.details?.plan !== undefined);
    expect(plans).toHaveLength(changed.length);
  });
});
