/** Tests the rules that hold for every operation of the OpenAPI description, with a sample body for each. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { BodyField, Schema } from "../../support/http/openapi.ts";
import { waitFor } from "../../support/index.ts";
import { NOBODY, useIdentity, wrongFields } from "./bed.ts";
import {
  filled,
  idOf,
  newTenant,
  type Operation,
  operationsOf,
  pathIn,
  storedDigest,
  type Tenant,
} from "./tenants.ts";

const identity = useIdentity();
let operations: Operation[];
let ours: Tenant;
let theirs: Tenant;

beforeAll(async () => {
  operations = await operationsOf(identity);
  ours = await newTenant(identity, "Ours");
  theirs = await newTenant(identity, "Theirs");
});

/** Returns the ids and secrets of a tenant. No response to another tenant may contain them. */
function secretsOf({ keys, ...ids }: Tenant): string[] {
  return [...Object.values(ids), ...Object.values(keys)];
}

async function expectNotFound(operation: Operation, values: string[]): Promise<void> {
  const response = await identity.call(operation.method, filled(operation, values), operation.body);
  const { id } = operation;
  expect({ operation: id, values, status: response.status }).toEqual({ operation: id, values, status: 404 });
  const received = JSON.stringify([response.text, [...response.headers]]);
  const sent = values.filter((value) => value !== "");
  for (const secret of [...secretsOf(theirs), "Theirs"]) {
    if (!sent.includes(secret)) expect(received).not.toContain(secret);
  }
}

/** Returns invalid values for a field, including those just outside of its bounds. */
function wrongValues({ name: field, schema }: BodyField): unknown[] {
  return [...ofOtherKinds(field), ...outOfBounds(schema), ...(field === "role" ? ["emperor"] : [])];
}

function outOfBounds(schema: Schema): unknown[] {
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf : [schema];
  const isNullable = choices.some(({ type }) => [type].flat().includes("null"));
  const bounds = choices.flatMap(({ type, minimum, maximum, maxLength, enum: allowed }) => [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(maxLength === undefined ? [] : ["x".repeat(maxLength + 1)]),
    ...(type === "integer" ? [60.5, 1e300, "60"] : []),
    ...(allowed === undefined ? [] : ["removed", "deleted"]),
  ]);
  return isNullable ? bounds : [null, ...bounds];
}

function ofOtherKinds(field: string): unknown[] {
  const texts = ["", "   ", "\u0000", "a\u0000b", "\ud800", "a\u001fb", "x".repeat(4096)];
  const others = [true, [], {}, [null], -1];
  if (field === "token") return ["", 7, ...others];
  if (field === "max_uses" || field.endsWith("_seconds")) return [...texts, ...others];
  return [...texts, 7, ...others];
}

/** Returns the body once for each of its objects' members, with a second member of the same name before it. */
function namedTwice(body: unknown): string[] {
  const text = JSON.stringify(body);
  return [...text.matchAll(/"\w+":/g)].flatMap(({ 0: name, index }) => {
    const escaped = name.replace(/\w/, (first) => `\\u${first.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return [name, escaped].map((spelling) => `${text.slice(0, index)}${spelling}null,${text.slice(index)}`);
  });
}

// ER-24, ID-2
test("a 404 names the resource and the last id in the path", async () => {
  const resources: Record<string, string> = { key_id: "api_key" };
  for (const operation of operations.filter(({ id }) => id !== "mintSession")) {
    const isPerson = operation.id === "getUserOfMember";
    const last = operation.params.at(-1);
    if (last === undefined) continue;
    const values = operation.params.map((each) => (each === last ? NOBODY : idOf(ours, operation, each)));
    const response = await identity.call(operation.method, filled(operation, values), operation.body);
    const resource = resources[last] ?? last.replace(/_id$/, "");
    const details = isPerson ? { resource: "user", id: null } : { resource, id: NOBODY };
    expect([operation.id, response.body.error.details]).toEqual([operation.id, details]);
  }
});

describe("two tenants", () => {
  // ID-2
  test("ids of another organization or person are 404 in every operation, reveal nothing and write nothing", async () => {
    const before = await storedDigest(identity);
    let calls = 0;
    for (const operation of operations) {
      const { params } = operation;
      const own = params.map((param) => idOf(ours, operation, param));
      const other = params.map((param) => idOf(theirs, operation, param));
      for (let mask = 1; mask < 2 ** params.length - 1; mask++) {
        await expectNotFound(
          operation,
          own.map((id, index) => (mask & (1 << index) ? (other[index] ?? "") : id)),
        );
        calls += 1;
      }
    }
    expect(calls).toBeGreaterThan(25);
    expect(await storedDigest(identity)).toBe(before);
  });

  // ID-2, ID-54
  test("unknown and malformed ids and those of another kind are 404, and write nothing", async () => {
    const before = await storedDigest(identity);
    const wrongIds = [
      NOBODY,
      ours.user_id.toLowerCase(),
      "%00",
      `${ours.user_id}%00`,
      "%ED%A0%80",
      "%FF",
      "%F0%9F%9A%AA",
      "x",
      "-1",
      "%27%20or%20true--",
      "x".repeat(128),
      "0".repeat(26),
      "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
      encodeURIComponent("../users"),
    ];
    for (const operation of operations) {
      for (const [index, param] of operation.params.entries()) {
        const own = operation.params.map((each) => idOf(ours, operation, each));
        const others = [...secretsOf(ours), ...secretsOf(theirs)].filter(
          (id) => id !== idOf(theirs, operation, param) && !own.includes(id) && !id.startsWith("inv_"),
        );
        for (const id of [...wrongIds, ...others]) await expectNotFound(operation, own.with(index, id));
      }
    }
    expect(await storedDigest(identity)).toBe(before);
  }, 120_000);
});

describe("bad input", () => {
  // ID-5
  test("unknown and repeated query parameters are 422, and write nothing", async () => {
    const before = await storedDigest(identity);
    for (const operation of operations) {
      const path = pathIn(ours, operation);
      const unknown = await identity.call(operation.method, `${path}?verbose=1`, operation.body);
      expect(wrongFields(unknown)).toEqual(["verbose"]);
      const twice = await identity.call(operation.method, `${path}?limit=1&limit=2`, operation.body);
      expect(wrongFields(twice)).toEqual(["limit"]);
    }
    expect(await storedDigest(identity)).toBe(before);
  });

  // ID-4
  test("bodies that are not JSON are 400, invalid, unknown or missing fields 422, and large bodies 413", async () => {
    const before = await storedDigest(identity);
    const others = new Set(operations.flatMap(({ fields }) => fields.map(({ name }) => name)));
    for (const operation of operations.filter(({ body }) => body !== undefined)) {
      const path = pathIn(ours, operation);
      const call = (body: unknown) => identity.call(operation.method, path, body);
      for (const text of ["{", "{'name':1}", "nul", '{"name":"a"}}'])
        expect((await call(text)).status).toBe(400);
      for (const body of ["[]", "null", "7", '"name"', "[{}]"]) {
        expect({ id: operation.id, body, status: (await call(body)).status }).toMatchObject({ status: 422 });
      }
      const own = operation.fields.map(({ name }) => name);
      for (const field of [...others, "unknown", "id", "__proto__", "constructor"]) {
        if (own.includes(field)) continue;
        const text = JSON.stringify(operation.body).replace(/\}$/, `,"${field}":1}`).replace("{,", "{");
        expect(wrongFields(await call(text))).toContain(field);
      }
      for (const { name } of operation.fields.filter(({ isRequired }) => isRequired)) {
        expect(wrongFields(await call({ ...operation.body, [name]: undefined }))).toEqual([name]);
      }
      const large = await call(JSON.stringify({ name: "x".repeat(70_000) }));
      expect(large.status).toBe(413);
      expect(large.body.error.details).toEqual({ max_size_bytes: 65_536 });
    }
    expect(await storedDigest(identity)).toBe(before);
  });

  // ID-4
  test("a body with a name twice in an object is 422, and writes nothing", async () => {
    const before = await storedDigest(identity);
    for (const operation of operations.filter(({ body }) => body !== undefined)) {
      for (const text of namedTwice({ unknown: 1, ...operation.body })) {
        const response = await identity.call(operation.method, pathIn(ours, operation), text);
        expect({ id: operation.id, text, fields: wrongFields(response) }).toMatchObject({ fields: [""] });
      }
    }
    expect(await storedDigest(identity)).toBe(before);
  });

  // ID-5
  test("every invalid value is 422, which names the field, and nothing is written", async () => {
    const attempts = operations.flatMap((operation) =>
      operation.fields.flatMap((field) =>
        wrongValues(field).map((value) => ({ operation, field: field.name, value })),
      ),
    );
    expect(attempts.length).toBeGreaterThan(200);
    for (const { operation, field, value } of attempts) {
      const path = pathIn(ours, operation);
      const before = await storedDigest(identity);
      const body = { ...operation.body, [field]: value };
      const response = await identity.call(operation.method, path, body);
      const fields = [...new Set(wrongFields(response).map((each) => each.split(".")[0]))];
      expect({ operation: operation.id, field, value, fields }).toMatchObject({ fields: [field] });
      expect(await storedDigest(identity)).toBe(before);
    }
  }, 120_000);

  // ER-10
  test("unknown paths are 404, and other methods of every path are 405 with Allow", async () => {
    expect((await identity.call("GET", "/nothing")).status).toBe(404);
    for (const path of new Set(operations.map((operation) => operation.path))) {
      const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method);
      const concrete = path.replace(/\{\w+\}/g, NOBODY);
      const response = await identity.call("PUT", concrete, {});
      expect(response.status).toBe(405);
      expect(response.body.error.code).toBe("METHOD_NOT_ALLOWED");
      const named = response.headers.get("allow")?.split(", ") ?? [];
      expect(named.toSorted()).toEqual(expect.arrayContaining(allowed.toSorted()));
    }
  });
});

// ID-8, ER-5
test("errors name the X-Request-ID of the request, and no response has the header", async () => {
  for (const operation of operations) {
    const path = filled(
      operation,
      operation.params.map(() => NOBODY),
    );
    const headers = { "X-Request-ID": `of-${operation.id}` };
    const response = await identity.call(operation.method, path, operation.body, headers);
    expect(response.headers.has("x-request-id")).toBe(false);
    if (operation.params.length > 0) {
      expect([response.status, response.body.error.request_id]).toEqual([404, `of-${operation.id}`]);
    }
  }
});

// OP-37, OP-40
test("log lines have the route template and the ids of the path, but no malformed id", async () => {
  const { id, owner, ownerMember } = await identity.organization();
  await identity.call("GET", `/organizations/${id}/members/${ownerMember}`);
  await identity.call("GET", `/users/${owner}`);
  await identity.call("GET", "/users/not-an-id");
  const lines = await waitFor(async () => {
    const written = (await identity.log()).split("\n").filter((line) => line !== "");
    const all = written
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message === "request completed");
    const first = all.findIndex(({ member_id }) => member_id === ownerMember);
    return first >= 0 && all.length >= first + 3 && all.slice(first, first + 3);
  });
  expect(lines).toMatchObject([
    {
      route: "/organizations/{organization_id}/members/{member_id}",
      organization_id: id,
      member_id: ownerMember,
    },
    { route: "/users/{user_id}", user_id: owner, status: 200 },
    { route: "/users/{user_id}", status: 404 },
  ]);
  expect(JSON.stringify(lines)).not.toContain("not-an-id");
});
