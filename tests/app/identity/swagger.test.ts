import { describe, expect, test } from "bun:test";
import { useIdentity } from "./bed.ts";
import { ROLES } from "./harness.ts";

interface Documented {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: { name: string; description: string; example?: string }[];
  responses: Record<string, { description: string; headers?: object; content?: object }>;
}

const identity = useIdentity();

async function documentedOperations(): Promise<[string, Documented][]> {
  const { body } = await identity.call("GET", "/swagger/json");
  const paths: Record<string, Record<string, Documented>> = body.paths;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): [string, Documented] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
}

describe("the OpenAPI description", () => {
  test("does not depend on calls before it is first read", async () => {
    const { text } = await identity.call("GET", "/swagger/json");
    const used = await identity.restarted(ROLES);
    await used.organization();
    const { id } = await used.organization();
    await used.call("GET", `/organizations/${id}/members`);
    await used.call("POST", `/users/${await used.person()}/api-keys`);
    expect((await used.call("GET", "/swagger/json")).text).toBe(text);
  });

  test("has the audit headers of the operations that set them", async () => {
    const operations = Object.fromEntries(await documentedOperations());
    const headers = (name: string, status: string) =>
      Object.keys(operations[name]?.responses[status]?.headers ?? {});
    const pair = ["X-Platform-Audit-Organization", "X-Platform-Audit-Member"];
    expect(headers("POST /users/{user_id}/organizations", "201")).toEqual([
      "X-Platform-Audit-Created",
      ...pair,
    ]);
    expect(headers("POST /users/{user_id}/invites/redeem", "200")).toEqual(pair);
    expect(headers("PATCH /members/{member_id}", "200")).toEqual(["X-Platform-Audit-Details"]);
    expect(headers("GET /members/{member_id}", "200")).toEqual([]);
    expect(headers("DELETE /members/{member_id}", "204")).toEqual([]);
  });
});
