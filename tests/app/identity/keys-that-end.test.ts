import { describe, expect, test } from "bun:test";
import { resolved } from "../../support/http/openapi.ts";
import { useIdentity } from "./bed.ts";
import { wrongFields } from "./harness.ts";

const identity = useIdentity();

async function keyOfPerson(body: object) {
  const user_id = await identity.person();
  const path = `/users/${user_id}/api-keys`;
  const { id, key, expires_at } = (await identity.call("POST", path, body)).body;
  return { id, key, expires_at, path, expected: { valid: true, realm: "directory", user_id } };
}

async function keyOfMember(body: object) {
  const { id: organization_id, ownerMember: member_id } = await identity.organization();
  const path = `/members/${member_id}/api-keys`;
  const { id, key, expires_at } = (await identity.call("POST", path, body)).body;
  const labels = ["*"];
  const expected = { valid: true, realm: "organization", organization_id, member_id, labels, plan: null };
  return { id, key, expires_at, path, expected };
}

describe.each([
  ["a person", keyOfPerson],
  ["a member", keyOfMember],
])("a key of %s", (_, newKey) => {
  // ID-59
  test("with an expiry returns it when validated, and is invalid from that millisecond on", async () => {
    const { key, expires_at, path, expected } = await newKey({ expires_in_seconds: 60 });
    identity.clock.advance(59_999);
    expect(await identity.validate(key)).toEqual({ ...expected, expires_at });
    identity.clock.advance(1);
    expect(await identity.validate(key)).toEqual({ valid: false });
    const [listed] = (await identity.call("GET", path)).body.keys;
    expect(listed).toMatchObject({ expires_at, revoked_at: null });
  });

  test("without an expiry is still valid ten years later", async () => {
    const { key, expires_at, expected } = await newKey({});
    expect(expires_at).toBeNull();
    identity.clock.advance(315_360_000_000);
    expect(await identity.validate(key)).toEqual(expected);
  });

  test("that is revoked before its expiry is invalid at once", async () => {
    const { id, key, path } = await newKey({ expires_in_seconds: 3600 });
    expect((await identity.call("DELETE", `${path}/${id}`)).status).toBe(204);
    expect(await identity.validate(key)).toEqual({ valid: false });
  });

  test("that has expired can be revoked", async () => {
    const { id, path } = await newKey({ expires_in_seconds: 60 });
    identity.clock.advance(60_000);
    expect((await identity.call("DELETE", `${path}/${id}`)).status).toBe(204);
    expect((await identity.call("GET", path)).body.keys[0].revoked_at).not.toBeNull();
  });
});

// ID-58
describe("with APIKEY_MAX_AGE_SECONDS", () => {
  const MAX_AGE_SECONDS = 3600;
  const strict = useIdentity({ apiKeyMaxAgeSeconds: MAX_AGE_SECONDS });

  test("a lifetime is required, and may not be longer", async () => {
    const path = `/users/${await strict.person()}/api-keys`;
    for (const body of [undefined, {}, { name: "CI" }, { expires_in_seconds: MAX_AGE_SECONDS + 1 }]) {
      const answer = await strict.call("POST", path, body);
      expect(wrongFields(answer)).toEqual(["expires_in_seconds"]);
      expect(answer.body.error.details.fields[0].message).toContain("whole number from 60 to 3600");
    }
    for (const expires_in_seconds of [60, MAX_AGE_SECONDS]) {
      expect((await strict.call("POST", path, { expires_in_seconds })).status).toBe(201);
    }
    expect((await strict.call("GET", path)).body.keys).toHaveLength(2);
  });

  test("the OpenAPI description has the maximum lifetime and a required body", async () => {
    for (const [harness, required, maximum] of [
      [identity, false, 315_360_000],
      [strict, true, MAX_AGE_SECONDS],
    ] as const) {
      const { body: document } = await harness.call("GET", "/swagger/json");
      const { requestBody } = document.paths["/members/{member_id}/api-keys"].post;
      const shape = resolved(document, requestBody.content["application/json"].schema);
      expect(requestBody.required ?? false).toBe(required);
      expect(shape.required ?? []).toEqual(required ? ["expires_in_seconds"] : []);
      expect(shape.properties).toMatchObject({ expires_in_seconds: { minimum: 60, maximum } });
    }
  });
});
