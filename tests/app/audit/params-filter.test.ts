import { beforeAll, describe, expect, test } from "bun:test";
import { intent, requestId, sharedAudit } from "./audit-service.ts";

const LOG = "/organizations/organization-1/audit-events";

// AU-37
describe("the filter params[name]", () => {
  const audit = sharedAudit();
  /** The name that this test gives to each event, by request id. */
  const written = new Map<string, string>();

  beforeAll(async () => {
    const all: [string, Record<string, string>][] = [
      ["w-1", { id: "w-1" }],
      ["w-1 of c", { id: "w-1", cell: "c" }],
      ["empty", { id: "" }],
      ["without", {}],
      ["odd name", { "a]b": "x" }],
      ["space and plus", { id: "a b+c" }],
    ];
    for (const [name, params] of all) {
      const id = requestId();
      written.set(id, name);
      await audit.put(id, intent({ params }));
    }
  });

  test.each([
    ["params[id]=w-1", ["w-1", "w-1 of c"]],
    ["params%5Bid%5D=w-1", ["w-1", "w-1 of c"]],
    ["params[id]=w-1&params[cell]=c", ["w-1 of c"]],
    ["params[id]=", ["empty"]],
    ["params[a]b]=x", ["odd name"]],
    ["params[id]=a+b%2Bc", ["space and plus"]],
    ["params[id]=W-1", []],
    ["params[id]=w-1&params[cell]=", []],
  ])("%s finds %p", async (query, names) => {
    const { audit_events } = await audit.list(`${LOG}?${query}`);
    expect(audit_events.map(({ request_id }) => written.get(request_id) ?? "").sort()).toEqual(names);
  });
});
