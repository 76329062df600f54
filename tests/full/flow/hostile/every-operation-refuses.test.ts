/** Tests that every operation refuses hostile bodies. Their cost is measured at night. */
import { describe, test } from "bun:test";
import { startAudit } from "../../../app/audit/bed.ts";
import { ADMIN_TOKEN, startRegistry } from "../../../app/registry/bed.ts";
import { describedOperations } from "../../../nightly/hostile/operations.ts";
import { hostileRequests } from "../../../nightly/hostile/requests.ts";
import { expectRefusal } from "../../../nightly/hostile/subject.ts";

const BODY_BYTES = 4_096;

// ER-3, ER-4
describe("every operation refuses hostile bodies:", () => {
  test.each([
    ["audit", startAudit],
    ["the registry", startRegistry],
  ] as const)("%s", async (_, start) => {
    const { url, stop } = await start();
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" };
    for (const operation of await describedOperations(url)) {
      for (const request of hostileRequests(operation, BODY_BYTES).refused) {
        const response = await fetch(url + request.path, {
          method: request.method,
          headers,
          body: request.body,
        });
        expectRefusal(request, { status: response.status, body: await response.text() });
      }
    }
    await stop();
  });
});
