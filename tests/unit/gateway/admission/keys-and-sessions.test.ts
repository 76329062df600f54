import { afterEach, describe, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { ProtectedScope } from "../../../../apps/gateway/steps/authenticate.ts";
import { member, person } from "../../../support/gateway/identity-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import { type Admission, admission, bearer, credential, key } from "./bed.ts";

let gate: Admission;
const open = (environment?: Record<string, string>) => {
  gate = admission(environment);
  return gate;
};
afterEach(() => gate.close());

const SCOPES = ["user", "organization", "member"] as const satisfies ProtectedScope[];

describe("a key or session", () => {
  const rows = [
    { form: "k-2", result: person(), auth_type: "user_apikey", scopes: ["user"] },
    { form: "sk-1", result: person(), auth_type: "user_apikey", scopes: ["user"] },
    { form: "k-2", result: member(), auth_type: "member_apikey", scopes: ["organization", "member"] },
    { form: "mk-1", result: member(), auth_type: "member_apikey", scopes: ["organization", "member"] },
    { form: "s-2", result: member(), auth_type: "member_session", scopes: ["organization", "member"] },
    { form: "ms-1", result: member(), auth_type: "member_session", scopes: ["organization", "member"] },
  ];
  for (const { form, result, auth_type, scopes } of rows) {
    // GW-33, GW-34, GW-41
    test(`of form ${form} and realm ${result.realm} is a ${auth_type} on scope ${scopes}, and gets 401 elsewhere`, async () => {
      const { identity, outcome, known } = open();
      const text = known(form, result);
      for (const scope of SCOPES) {
        const response = await outcome(scope, key(text));
        if (scopes.includes(scope)) {
          expect(response).toMatchObject({
            auth_type,
            key_prefix: text.slice(0, `acme-${form}-`.length + 4),
          });
        } else {
          expect(response).toMatchObject({ code: "UNAUTHORIZED", status: 401 });
        }
      }
      expect(identity.calls).toEqual([{ credential: text }]);
    });
  }

  const impossible = [
    { form: "s-2", result: person() },
    { form: "ms-1", result: person() },
    { form: "mk-1", result: person() },
    { form: "sk-1", result: member() },
  ];
  // GW-55
  test.each(impossible)(
    "of form $form gets 503 if identity returns a realm that the form cannot have",
    async ({ form, result }) => {
      const { identity, verdict, known } = open();
      const text = known(form, result);
      expect(await verdict("user", key(text))).toBe(503);
      expect(await verdict("member", key(text))).toBe(503);
      expect(identity.calls).toHaveLength(2);
    },
  );

  // GW-40
  test("has the same ids and labels on scope organization and member, from one call", async () => {
    const { identity, outcome, known } = open();
    const text = known("k-2", member({ labels: ["*"] }));
    const expected = { user_id: null, organization_id: "o1", member_id: "m1", labels: ["*"] };
    expect(await outcome("organization", key(text))).toMatchObject(expected);
    expect(await outcome("member", key(text))).toMatchObject(expected);
    expect(identity.calls).toHaveLength(1);
  });

  // GW-40
  test("has the user's id and no labels on scope user", async () => {
    const { outcome, known } = open();
    const text = known("k-2", person("u7"));
    expect(await outcome("user", key(text))).toMatchObject({
      user_id: "u7",
      organization_id: null,
      member_id: null,
      labels: null,
      plan: null,
    });
  });

  // GW-77
  test("has no labels if identity returns no list of labels", async () => {
    const { outcome, known } = open();
    const text = known("k-2", member({ labels: undefined }));
    expect(await outcome("member", key(text))).toMatchObject({ labels: [] });
  });

  // GW-38
  test("of unknown form gets 401 without a call to identity", async () => {
    const { identity, verdict } = open();
    const good = credential("k-2");
    const shapes = [
      "",
      "x",
      good.slice(0, -1),
      good.replace("-k-2-", "-k-3-"),
      `${good}, ${good}`,
      "k".repeat(16_000),
    ];
    for (const shape of shapes) {
      for (const scope of SCOPES) expect(await verdict(scope, key(shape))).toBe(401);
    }
    expect(identity.calls).toEqual([]);
  });

  // GW-35
  test("is read from X-API-Key whenever that header is present, and Authorization is ignored", async () => {
    const { identity, verdict } = open();
    identity.results.set("alice", person());
    const token = bearer("e30.e30.c2ln");
    expect(await verdict("user", { ...token, ...key("") })).toBe(401);
    expect(await verdict("user", { ...token, ...key("garbage") })).toBe(401);
    expect(identity.calls).toEqual([]);
    expect(await verdict("user", { ...token, ...key(credential("k-2")) })).toBe(401);
    expect(identity.calls).toHaveLength(1);
  });

  // GW-36
  test("is not read from Authorization", async () => {
    const { identity, verdict, known } = open();
    const text = known("k-2", member());
    for (const scope of SCOPES) expect(await verdict(scope, bearer(text))).toBe(401);
    expect(identity.calls).toEqual([]);
  });
});

describe("a request without a credential", () => {
  // GW-34, GW-37
  test("gets 401 on every scope, with a WWW-Authenticate header on scope user", async () => {
    const { identity, outcome } = open();
    for (const scope of SCOPES) {
      const response = await outcome(scope, {});
      expect(response).toMatchObject({ status: 401, message: "Authentication required.", details: null });
      if (!(response instanceof ApiError)) throw response;
      expect(response.headers).toEqual(scope === "user" ? { "WWW-Authenticate": "Bearer" } : {});
    }
    expect(identity.calls).toEqual([]);
  });
});

describe("the validation service", () => {
  const failures: [what: string, respond: () => Response | Promise<Response>][] = [
    ["500", () => new Response("oops", { status: 500 })],
    ["401, as for a wrong internal token", () => Response.json({}, { status: 401 })],
    ["422", () => Response.json({}, { status: 422 })],
    ["a redirect", () => Response.redirect("http://127.0.0.1:1/")],
    ["a body that is not JSON", () => new Response("<html>")],
    [
      "a body that is nested too deeply",
      () => new Response(`{"valid":false,"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`),
    ],
    ["null", () => Response.json(null)],
    ["valid that is not a boolean", () => Response.json({ ...member(), valid: "true" })],
    ["an unknown realm", () => Response.json({ ...member(), realm: "world" })],
    ["an empty user_id", () => Response.json(person(""))],
    ["labels that are not a list", () => Response.json(member({ labels: "*" }))],
    ["expires_at that is not a time", () => Response.json(member({ expires_at: "soon" }))],
  ];
  // GW-55
  test.each(failures)("that returns %s causes a 503, which is not cached", async (_, respond) => {
    const { identity, outcome, verdict } = open();
    const text = credential("k-2");
    identity.override = respond;
    expect(await outcome("member", key(text))).toMatchObject({
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      kind: "auth",
    });
    identity.override = null;
    identity.results.set(text, member());
    expect(await verdict("member", key(text))).toBe("admitted");
  });

  // GW-55
  test("that does not respond in time causes a 503 of kind network, which is not cached", async () => {
    const { identity, time, outcome, verdict } = open({ VALIDATE_TIMEOUT_MS: "30" });
    const text = credential("k-2");
    const never = Promise.withResolvers<Response>();
    identity.override = () => never.promise;
    const response = outcome("member", key(text));
    time.advance(29);
    await waitFor(() => identity.calls.length === 1);
    expect(time.waiting()).toEqual([1]);
    time.advance(1);
    expect(await response).toMatchObject({ status: 503, kind: "network" });
    identity.override = null;
    identity.results.set(text, member());
    expect(await verdict("member", key(text))).toBe("admitted");
    never.resolve(new Response());
  });

  // GW-55
  test.each([
    ["breaks off its response", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"],
    ["closes the connection without a response", ""],
    ["sends too large a response", `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(600 * 1024)}`],
  ])("that %s causes a 503 of kind network", async (_, response) => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end(response) },
    });
    const { outcome } = open({ CREDENTIAL_VALIDATE_URL: `http://127.0.0.1:${server.port}/` });
    expect(await outcome("member", key(credential("k-2")))).toMatchObject({ status: 503, kind: "network" });
    server.stop(true);
  });

  // GW-54
  test("gets the internal token if one is configured, and otherwise no such header", async () => {
    const { identity, verdict } = open();
    await verdict("member", key(credential("k-2")));
    await identity.stop();
    await gate.close();
    const next = open({ INTERNAL_AUTH_TOKEN: "inner-token" });
    await next.verdict("member", key(credential("k-2")));
    expect([...identity.tokens, ...next.identity.tokens]).toEqual([null, "inner-token"]);
  });
});
