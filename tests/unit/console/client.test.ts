import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import {
  conflictsOf,
  FailedCall,
  nearestOf,
  pathTo,
  Registry,
  resultOf,
  type Send,
} from "../../../apps/console/registry/console-registry.ts";

const Shape = Type.Object({ ok: Type.Boolean() });
const envelope = (code: string, details: object | null = null) => ({
  error: { type: "invalid_request_error", code, message: "A sentence.", request_id: "r-1", details },
});

async function failureOf(send: Send, method: "GET" | "POST" = "GET", query?: Record<string, string>) {
  const result = await resultOf(() =>
    new Registry("token", send).call(Shape, "/x", { method, ...(query && { query }) }),
  );
  if (result.ok) throw new Error("Expected a failure.");
  return result.failure;
}
const responding =
  (status: number, body: unknown): Send =>
  () =>
    Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), { status }));

describe("the console's call of the registry", () => {
  test("sends the token only in its header, sends no cookies, and follows no redirect", async () => {
    const sent: { address: string; request: RequestInit }[] = [];
    const registry = new Registry("secret", (address, request) => {
      sent.push({ address, request });
      return Promise.resolve(Response.json({ ok: true }));
    });
    expect(await registry.call(Shape, "/x", { query: { path: "/a b&c" } })).toEqual({ ok: true });
    expect(sent[0]?.address).toBe("/x?path=%2Fa+b%26c");
    expect(sent[0]?.request).toMatchObject({
      headers: { Authorization: "Bearer secret" },
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
    });
    expect(JSON.stringify(registry)).not.toContain("secret");
  });

  // RG-138
  test("renews a token that the registry refuses, and sends the same request once more", async () => {
    const sent: RequestInit[] = [];
    const accepting = (accepted: string): Send => {
      return (_, request) => {
        sent.push(request);
        const { authorization } = Object.fromEntries(new Headers(request.headers));
        const isAccepted = authorization === `Bearer ${accepted}`;
        return Promise.resolve(
          Response.json(isAccepted ? { ok: true } : envelope("UNAUTHORIZED"), {
            status: isAccepted ? 200 : 401,
          }),
        );
      };
    };
    const source = async (refused: boolean) => (refused ? "second" : "first");
    const write = { method: "POST", body: "a document", headers: { "If-Match": "x" } } as const;
    expect(await new Registry(source, accepting("second")).call(Shape, "/x", write)).toEqual({ ok: true });
    expect(sent.map(({ headers, body }) => [headers, body])).toEqual([
      [{ Authorization: "Bearer first", "If-Match": "x" }, "a document"],
      [{ Authorization: "Bearer second", "If-Match": "x" }, "a document"],
    ]);
    sent.length = 0;
    const refused = new Registry(source, accepting("third")).call(Shape, "/x", write);
    await expect(refused).rejects.toMatchObject({ failure: { kind: "signed_out", outcomeUnknown: false } });
    expect(sent).toHaveLength(2);
  });

  test.each(["", "a b", "ä", "a\nb"])("refuses the token %p", (token) => {
    expect(() => new Registry(token)).toThrow(FailedCall);
  });

  test.each<[number, string, string]>([
    [401, "UNAUTHORIZED", "signed_out"],
    [404, "NOT_FOUND", "missing"],
    [409, "ROUTE_CONFLICT", "conflict"],
    [412, "PRECONDITION_FAILED", "conflict"],
    [413, "PAYLOAD_TOO_LARGE", "invalid"],
    [422, "VALIDATION_ERROR", "invalid"],
    [500, "INTERNAL_ERROR", "unavailable"],
    [503, "SERVICE_UNAVAILABLE", "unavailable"],
    [405, "METHOD_NOT_ALLOWED", "unexpected"],
  ])("reports the response %d %s as %s", async (status, code, kind) => {
    const failure = await failureOf(responding(status, envelope(code)));
    expect(failure).toMatchObject({ kind, request_id: "r-1", outcomeUnknown: false });
  });

  test.each<[string, Send, string]>([
    ["a network error", () => Promise.reject(new TypeError("Failed to fetch")), "unavailable"],
    ["a 502 of a proxy", responding(502, "<html>Bad gateway</html>"), "unavailable"],
    ["an HTML page", responding(200, "<html>Hello</html>"), "unexpected"],
    ["a response of another version", responding(200, { ok: "yes" }), "unexpected"],
    ["an envelope without an error", responding(418, { error: null }), "unexpected"],
  ])("fails on %s", async (_, send, kind) => {
    expect(await failureOf(send)).toMatchObject({ kind });
  });

  test("says that a write without a definite response may have happened, and never says so for a read", async () => {
    const away: Send = () => Promise.reject(new TypeError("Failed to fetch"));
    expect((await failureOf(away, "POST")).outcomeUnknown).toBe(true);
    expect((await failureOf(responding(503, envelope("SERVICE_UNAVAILABLE")), "POST")).outcomeUnknown).toBe(
      true,
    );
    expect((await failureOf(responding(200, "cut"), "POST")).outcomeUnknown).toBe(true);
    expect((await failureOf(away, "POST", { dry_run: "true" })).outcomeUnknown).toBe(false);
    expect((await failureOf(away)).outcomeUnknown).toBe(false);
    expect((await failureOf(responding(422, envelope("VALIDATION_ERROR")), "POST")).outcomeUnknown).toBe(
      false,
    );
  });

  test("passes on the valid error details, and leaves out the others", async () => {
    const fields = [{ path: "a", message: "b" }, null, 5, { path: 1, message: "b" }, "x"];
    const conflicts = [
      { service: "a", method: "GET", path: "/", owner: "b", owner_path: "/" },
      { service: "a" },
    ];
    const failure = await failureOf(
      responding(409, envelope("ROUTE_CONFLICT", { fields, conflicts, nearest: {} })),
    );
    expect(failure.fields).toEqual([{ path: "a", message: "b" }]);
    expect(conflictsOf(failure)).toHaveLength(1);
    expect(nearestOf(failure)).toEqual([]);
  });

  test("escapes names in paths, and refuses names that would change the path", () => {
    expect(pathTo("services", "a/b?c#d", "revisions", 3)).toBe("/services/a%2Fb%3Fc%23d/revisions/3");
    for (const name of ["", ".", ".."]) expect(() => pathTo("services", name)).toThrow(FailedCall);
  });
});
