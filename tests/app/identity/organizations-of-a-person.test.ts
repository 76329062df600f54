/** Tests the limit of organizations that one person may create (ID-109). */
import { describe, expect, test } from "bun:test";
import { services } from "../../support/index.ts";
import { type HttpResponse, NOBODY, startIdentity, useIdentity, wrongFields } from "./bed.ts";

const MAX = 3;
const identity = useIdentity({ organizationsPerPersonMax: MAX });

const create = (user: string, through = identity) =>
  through.call("POST", `/users/${user}/organizations`, { name: "Acme" });
const createAsStaff = (body: object) => identity.call("POST", "/organizations", body);

async function createMost(user: string): Promise<string[]> {
  const ids: string[] = [];
  for (let count = 0; count < MAX; count += 1) ids.push((await create(user)).body.id);
  return ids;
}

function expectTooMany(response: HttpResponse) {
  expect({ status: response.status, error: { ...response.body.error, request_id: "" } }).toEqual({
    status: 409,
    error: {
      type: "invalid_request_error",
      code: "CONFLICT",
      message: "The person has created 3 organizations, the maximum: delete one first.",
      request_id: "",
      details: { field: "organizations", value: "3" },
    },
  });
}

const eventsOf = async () => (await identity.events()).length;

// ID-109
describe("POST /users/{user_id}/organizations", () => {
  test("returns 409 beyond the limit, and writes nothing", async () => {
    const user = await identity.person();
    await createMost(user);
    const events = await eventsOf();
    expectTooMany(await create(user));
    expect(await eventsOf()).toBe(events);
    const { body } = await identity.call("GET", `/users/${user}/memberships`);
    expect(body.memberships).toHaveLength(MAX);
    expect((await create(await identity.person())).status).toBe(201);
  });

  test("returns 201 again once one of them is deleted", async () => {
    const user = await identity.person();
    const [first = ""] = await createMost(user);
    expect((await identity.call("DELETE", `/organizations/${first}`)).status).toBe(204);
    expect((await create(user)).status).toBe(201);
    expectTooMany(await create(user));
  });

  test("does not count organizations that the person only joined", async () => {
    const subject = crypto.randomUUID();
    const user = await identity.person(subject);
    for (let count = 0; count < MAX + 1; count += 1) {
      const { id } = await identity.organization();
      const body = { idp: { issuer: "https://login.example.com", subject }, role: "member" };
      expect((await identity.call("POST", `/organizations/${id}/members`, body)).status).toBe(201);
    }
    await createMost(user);
    expectTooMany(await create(user));
  });
});

// ID-109, ID-110
describe("POST /organizations", () => {
  test("returns 201 for a person at the limit, because organizations that staff create do not count", async () => {
    const user = await identity.person();
    const asked = { name: " By staff ", user_id: user };
    for (let count = 0; count < MAX + 1; count += 1) {
      const { status, body, note } = await createAsStaff(asked);
      expect({ status, name: body.name }).toEqual({ status: 201, name: "By staff" });
      expect(note).toMatchObject({
        created: body.id,
        details: { name: "By staff", user_id: user },
        organization_id: null,
        member_id: null,
      });
      const members = await identity.call("GET", `/organizations/${body.id}/members`);
      expect(members.body.members).toMatchObject([{ id: note.details?.member_id, role: "owner" }]);
    }
    await createMost(user);
    expectTooMany(await create(user));
    expect((await createAsStaff(asked)).status).toBe(201);
  });

  test("returns 404 for an unknown person and 422 for a malformed id, and writes nothing", async () => {
    const events = await eventsOf();
    const unknown = await createAsStaff({ name: "A", user_id: NOBODY });
    expect(unknown).toMatchObject({
      status: 404,
      body: { error: { code: "NOT_FOUND", details: { resource: "user", id: NOBODY } } },
    });
    for (const user_id of ["me", NOBODY.toLowerCase()]) {
      expect(wrongFields(await createAsStaff({ name: "A", user_id }))).toEqual(["user_id"]);
    }
    expect(await eventsOf()).toBe(events);
  });
});

test("deleting an account keeps its organizations for their members, but forgets who created them", async () => {
  const user = await identity.person();
  const [first = ""] = await createMost(user);
  await identity.member(first, "owner");
  for (const { organization } of (await identity.call("GET", `/users/${user}/memberships`)).body
    .memberships) {
    if (organization.id !== first) await identity.call("DELETE", `/organizations/${organization.id}`);
  }
  expect((await identity.call("DELETE", `/users/${user}`)).status).toBe(204);
  expect((await identity.call("GET", `/organizations/${first}`)).status).toBe(200);
  const left =
    await identity.sql`select created_by from identity.organizations where id = ${first} or created_by = ${user}`;
  expect(left).toEqual([{ created_by: null }]);
});

describe.skipIf(!services().postgres.real)("under concurrency", () => {
  // ID-109
  test("exactly the allowed number of one person's concurrent creates on two replicas succeeds", async () => {
    await using other = await startIdentity({
      databaseUrl: identity.databaseUrl,
      organizationsPerPersonMax: MAX,
    });
    for (let round = 0; round < 3; round += 1) {
      const user = await identity.person();
      const responses = await Promise.all(
        Array.from({ length: 24 }, (_, index) => create(user, index % 2 === 0 ? identity : other)),
      );
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(MAX);
      for (const response of responses) if (response.status !== 201) expectTooMany(response);
      const { body } = await identity.call("GET", `/users/${user}/memberships`);
      expect(body.memberships).toHaveLength(MAX);
    }
  });
});
