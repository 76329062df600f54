/** Tests that no cache between the identity service and its callers may store responses (OP-24). */
import { expect, test } from "bun:test";
import { useIdentity } from "./bed.ts";

const identity = useIdentity();

// OP-24
test("responses with a key, a session or an invite token are sent with no-store", async () => {
  const { id, owner } = await identity.organization();
  const key = await identity.call("POST", `/users/${owner}/api-keys`, { name: "key" });
  const responses = [
    key,
    await identity.call("POST", `/users/${owner}/api-keys/${key.body.id}/rotate`, {}),
    await identity.call("POST", `/users/${owner}/organizations/${id}/session`),
    await identity.call("POST", `/organizations/${id}/invites`, { role: "member" }),
    await identity.call("GET", `/organizations/${id}/invites`),
    await identity.internal("POST", "/internal/credentials/validate", { credential: key.body.key }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201, 200, 200]);
  for (const { headers } of responses) expect(headers.get("cache-control")).toBe("no-store");
});
