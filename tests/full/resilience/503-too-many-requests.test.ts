/** Tests that requests beyond MAX_REQUESTS_IN_FLIGHT are refused at once until earlier requests end. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { RawClient, type RawResponse, spell } from "../../support/http/raw-http.ts";
import { freshDatabase, type RunningProcess, services, startProcess, waitFor } from "../../support/index.ts";

setDefaultTimeout(180_000);

// ER-19
describe.skipIf(!services().postgres.real)("a service with MAX_REQUESTS_IN_FLIGHT=2", () => {
  let service: RunningProcess;
  beforeAll(async () => {
    service = await startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      MAX_REQUESTS_IN_FLIGHT: "2",
    });
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  async function ask(): Promise<RawResponse> {
    const client = await RawClient.connect(service.url);
    client.send(spell("GET", "/roles"));
    const response = await client.response();
    client.destroy();
    return response;
  }

  test("refuses a third request while two are incomplete, responds to probes, and serves again afterwards", async () => {
    const served = (await ask()).status;
    expect(served).not.toBe(503);
    const holders = await Promise.all([1, 2].map(() => RawClient.connect(service.url)));
    const path = "/users/01M81C1EC5003XJ208PZ0DYRDB/organizations";
    for (const holder of holders) holder.send(spell("POST", path, { "Content-Length": "100" }, "{"));
    const refusal = await waitFor(
      async () => {
        const response = await ask();
        return response.status === 503 && response;
      },
      { what: "the refusal of a request" },
    );
    expect(refusal.headers).toContainEqual(["Retry-After", "1"]);
    expect(refusal.headers).toContainEqual(["Connection", "close"]);
    expect(JSON.parse(refusal.body.toString()).error).toMatchObject({
      type: "api_error",
      code: "SERVICE_UNAVAILABLE",
      details: null,
    });
    for (const probe of ["/health/live", "/health/ready", "/metrics"]) {
      expect((await fetch(service.internalUrl + probe)).status).toBe(200);
    }
    for (const holder of holders) holder.destroy();
    await waitFor(async () => (await ask()).status === served, { what: "a response to a new request" });
  });
});
