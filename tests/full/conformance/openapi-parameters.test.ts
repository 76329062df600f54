/**
 * Tests that services enforce the restrictions of query parameters that their OpenAPI descriptions declare.
 */
import { describe, expect, test } from "bun:test";
import { startAudit } from "../../app/audit/audit-service.ts";
import { NOBODY, startIdentity } from "../../app/identity/harness.ts";
import { ADMIN_TOKEN, startRegistry } from "../../app/registry/harness.ts";
import { type OpenApiDocument, operationsIn, type Parameter } from "../../support/http/openapi.ts";

/** A value that violates every pattern, enum, type and format in the descriptions. */
const WRONG = "§";

const isLimited = ({ schema }: Parameter) =>
  schema.pattern !== undefined ||
  schema.enum !== undefined ||
  schema.format !== undefined ||
  ["integer", "boolean"].includes(String(schema.type));

type Ask = (path: string) => Promise<{ status: number; text: string }>;

async function unchecked(ask: Ask): Promise<{ wrong: string[]; looked: number }> {
  const document: OpenApiDocument = JSON.parse((await ask("/swagger/json")).text);
  const wrong: string[] = [];
  let looked = 0;
  for (const { method, path, operationId, parameters = [] } of operationsIn(document)) {
    if (method !== "GET") continue;
    const query = parameters.filter((each) => each.in === "query");
    for (const { name } of query.filter(isLimited)) {
      const needed = query.filter((each) => each.required).map((each) => [each.name, String(each.example)]);
      const asked = new URLSearchParams({ ...Object.fromEntries(needed), [name]: WRONG });
      const { status, text } = await ask(`${path.replace(/\{\w+\}/g, NOBODY)}?${asked}`);
      looked++;
      if (status !== 422 || !text.includes(`"path":"${name}"`))
        wrong.push(`${operationId} ${name}: ${status}`);
    }
  }
  return { wrong, looked };
}

/** Returns a function that sends GET requests to a running service. */
const over =
  (url: string): Ask =>
  async (path) => {
    const response = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } });
    return { status: response.status, text: await response.text() };
  };

async function startOverHttp(starting: Promise<{ url: string; stop(): Promise<unknown> }>) {
  const service = await starting;
  return { ask: over(service.url), stop: () => service.stop() };
}

async function startIdentityOverHttp() {
  const identity = await startIdentity();
  const ask: Ask = async (path) => {
    const { status, body } = await identity.call("GET", path);
    return { status, text: JSON.stringify(body) };
  };
  return { ask, stop: () => identity.close() };
}

describe("a query parameter that violates the description gets 422 with the parameter's name", () => {
  test.each([
    ["identity", startIdentityOverHttp, 15],
    ["audit", () => startOverHttp(startAudit()), 15],
    ["the registry", () => startOverHttp(startRegistry()), 2],
  ] as const)("from %s", async (_, start, more) => {
    const service = await start();
    const { wrong, looked } = await unchecked(service.ask);
    await service.stop();
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(more);
  });
});
