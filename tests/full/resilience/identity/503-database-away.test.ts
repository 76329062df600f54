import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { storeLastUses } from "../../../../apps/identity/api-keys/last-use-writer.ts";
import { type IdentityBed, ISSUER, startIdentity } from "../../../app/identity/bed.ts";
import { services, startPostgres, type TestServer, waitFor } from "../../../support/index.ts";

describe.skipIf(!services().postgres.real)("identity while its database is down", () => {
  let server: TestServer;
  let identity: IdentityBed;

  beforeAll(async () => {
    server = await startPostgres();
    identity = await startIdentity({ databaseUrl: server.url });
  });
  afterAll(async () => {
    await identity.close();
    await server.close();
  });

  const ready = async () => (await identity.internal("GET", "/health/ready")).status;

  // ID-105
  test("responds to everything with 503, accepts no credential, and recovers by itself", async () => {
    const { id, owner, ownerMember } = await identity.organization();
    const { key } = (await identity.call("POST", `/members/${ownerMember}/api-keys`)).body;
    const used = new Date(identity.clock.now()).toISOString();
    expect(await identity.validate(key)).toMatchObject({ valid: true });
    await server.kill();
    await expect(storeLastUses(identity.deps)).rejects.toThrow();
    const responses = await Promise.all([
      identity.call("GET", `/organizations/${id}`),
      identity.call("GET", `/organizations/${id}/members`),
      identity.call("POST", `/users/${owner}/organizations`, { name: "Lost" }),
      identity.call("PATCH", `/organizations/${id}`, { name: "Lost" }),
      identity.call("POST", `/users/${owner}/organizations/${id}/session`),
      identity.call("DELETE", `/organizations/${id}`),
      identity.internal("POST", "/internal/credentials/validate", { credential: key }),
      identity.internal("POST", "/internal/credentials/validate", {
        idp: { issuer: ISSUER, subject: "new" },
      }),
      identity.internal("GET", "/internal/lifecycle-events"),
    ]);
    for (const { status, body } of responses) {
      expect({ status, code: body.error?.code }).toEqual({ status: 503, code: "SERVICE_UNAVAILABLE" });
    }
    expect(await ready()).toBe(503);
    expect((await identity.internal("GET", "/health/live")).status).toBe(200);
    expect((await identity.call("PATCH", `/organizations/${id}`, {})).status).toBe(422);

    await server.restart();
    await waitFor(async () => (await ready()) === 200, { what: "readiness" });
    expect(await identity.validate(key)).toMatchObject({ valid: true });
    await storeLastUses(identity.deps);
    const { keys } = (await identity.call("GET", `/members/${ownerMember}/api-keys`)).body;
    expect(keys[0].last_used_at).toBe(used);
    expect((await identity.call("GET", `/organizations/${id}`)).body.name).toBe("Acme");
    expect((await identity.call("PATCH", `/organizations/${id}`, { name: "Found" })).status).toBe(200);
  });

  // ID-105
  test("(killed during writes) keeps every acknowledged write with its event, and no partial write", async () => {
    // Several people, because a person may create only 50 organizations.
    const people = await Promise.all(Array.from({ length: 40 }, () => identity.person()));
    const created: string[] = [];
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let count = writer; ; count++) {
        const path = `/users/${people[count % people.length]}/organizations`;
        const response = await identity.call("POST", path, { name: "Written" });
        if (response.status !== 201) return response.status;
        created.push(String(response.body.id));
      }
    });
    await waitFor(() => created.length > 40);
    await server.kill();
    expect(new Set(await Promise.all(writers))).toEqual(new Set([503]));
    await server.restart();
    await waitFor(async () => (await ready()) === 200, { what: "readiness" });

    const events = await identity.events();
    const reported = events
      .filter(({ type }) => type === "organization.created")
      .map((event) => event.organization_id);
    expect(reported).toEqual(expect.arrayContaining(created));
    for (const id of reported) {
      const { status, body } = await identity.call("GET", `/organizations/${id}/members`);
      expect(status).toBe(200);
      expect(body.members).toHaveLength(1);
    }
  });
});
