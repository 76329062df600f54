import { describe, expect, test } from "bun:test";
import { AUDIT_DETAILS_HEADER } from "@ostiary/lib/contracts/audit";
import { Webhook } from "standardwebhooks";
import { waitFor } from "../../support/index.ts";
import { startAudit } from "./bed.ts";
import { exportProof, writeEvents } from "./proof-bed.ts";
import { callStreams, fieldsOf, STREAMS, sharedReceiver, sharedStreamingAudit } from "./streams-bed.ts";

const URL_OK = "https://siem.example.com/ostiary?token=t";
const NOWHERE = "01KA4YB0Q9X3M5N7P8R2S6T1VW";

describe("streams", () => {
  const receiver = sharedReceiver();
  const audit = sharedStreamingAudit([receiver]);

  let organizations = 0;
  /** Returns the URL path of the streams of an organization that no other test uses. */
  const fresh = () => `/organizations/organization-${++organizations}/audit-streams`;
  const call = (method: string, path: string, body?: unknown) => callStreams(audit, method, path, body);
  const created = async (path: string, changes: Record<string, unknown> = {}) => {
    const response = await call("POST", path, { url: URL_OK, ...changes });
    if (response.status !== 201) throw new Error(JSON.stringify(response.body));
    return response;
  };

  // AU-92, AU-96
  test("are created, listed, read, changed and deleted, and show their secret once", async () => {
    const path = fresh();
    const { body, headers } = await created(path, {
      format: "ocsf",
      filter: { service: "widgets", params: { a: "" } },
    });
    const { secret, ...shown } = body;
    expect(Buffer.from(secret.replace(/^whsec_/, ""), "base64")).toHaveLength(32);
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      url: URL_OK,
      format: "ocsf",
      filter: { service: "widgets", params: { a: "" } },
      status: "active",
      failing_since: null,
      last_error: null,
      last_delivered: null,
      lag_events: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(JSON.parse(headers.get(AUDIT_DETAILS_HEADER) ?? "")).toEqual({
      stream_id: body.id,
      url: "https://siem.example.com/ostiary?…",
      format: "ocsf",
      filter: { service: "widgets", params: { a: "" } },
    });
    expect((await call("GET", path)).body).toEqual({ audit_streams: [shown], has_more: false });
    expect((await call("GET", `${path}/${body.id}`)).body).toEqual(shown);
    const changed = await call("PATCH", `${path}/${body.id}`, {
      url: "https://other.example.com/",
      format: "ostiary",
      filter: {},
      status: "paused",
    });
    expect(changed.body).toEqual({
      ...shown,
      url: "https://other.example.com/",
      format: "ostiary",
      filter: null,
      status: "paused",
      updated_at: expect.any(String),
    });
    expect(JSON.parse(changed.headers.get(AUDIT_DETAILS_HEADER) ?? "")).toMatchObject({
      url: { from: "https://siem.example.com/ostiary?…", to: "https://other.example.com/" },
      status: { from: "active", to: "paused" },
    });
    expect((await call("PATCH", `${path}/${body.id}`, { status: "active" })).body.status).toBe("active");
    expect((await call("DELETE", `${path}/${body.id}`)).status).toBe(204);
    expect((await call("GET", `${path}/${body.id}`)).status).toBe(404);
    expect((await call("GET", path)).body.audit_streams).toEqual([]);
  });

  // AU-92
  test("are limited to ten for each organization, even if many are created at once", async () => {
    const path = fresh();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => call("POST", path, { url: URL_OK })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = responses.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(40);
    expect(refused[0]?.body.error.details).toEqual({ field: "streams", value: "10" });
    const first = await call("GET", `${path}?limit=7`);
    const second = await call("GET", `${path}?starting_after=${first.body.audit_streams[6].id}`);
    const { has_more, audit_streams } = second.body;
    expect([first.body.has_more, audit_streams.length, has_more]).toEqual([true, 3, false]);
    await call("DELETE", `${path}/${first.body.audit_streams[0].id}`);
    await created(path);
  });

  // AU-97
  test("are 404 for another organization and for an unknown id", async () => {
    const [own, other] = [fresh(), fresh()];
    const { body } = await created(own);
    for (const path of [`${other}/${body.id}`, `${own}/${NOWHERE}`, `${own}/x`, `${own}/%00`]) {
      for (const [method, suffix, sent] of [
        ["GET", "", undefined],
        ["PATCH", "", { status: "paused" }],
        ["DELETE", "", undefined],
        ["POST", "/rotate-secret", {}],
        ["POST", "/test", undefined],
      ] as const) {
        const { status } = await call(method, `${path}${suffix}`, sent);
        expect([method, path, suffix, status]).toEqual([method, path, suffix, 404]);
      }
    }
    expect((await call("GET", `${own}/${body.id}`)).body.status).toBe("active");
  });

  const LONG = "x".repeat(10_000);
  // AU-93, AU-94, AU-95, AU-97
  test.each<[string, unknown, string[]]>([
    ["no url", {}, ["url"]],
    ["a port that is not allowed", { url: "https://a.example:22/" }, ["url"]],
    ["a private address", { url: "https://10.1.2.3/" }, ["url"]],
    ["a filter value that is too long", { url: URL_OK, filter: { service: LONG } }, ["filter.service"]],
    [
      "a filter value with half a surrogate",
      { url: URL_OK, filter: { created_id: "\ud800" } },
      ["filter.created_id"],
    ],
    ["from_position behind the log", { url: URL_OK, from_position: 2 }, ["from_position"]],
    [
      "from_time and from_position",
      { url: URL_OK, from_time: "2026-01-01T00:00:00Z", from_position: 1 },
      ["from_time"],
    ],
    ["an unknown field", { url: URL_OK, secret: "x" }, ["secret"]],
    [
      "much that is wrong at once",
      { url: "x", format: "x", filter: { method: "", nope: 1 }, from_position: -1, more: 1 },
      ["filter.method", "filter.nope", "format", "from_position", "more", "url"],
    ],
  ])("422 for a create with %s, which writes nothing", async (_, body, fields) => {
    const path = fresh();
    expect([...new Set(fieldsOf(await call("POST", path, body)))]).toEqual(fields);
    expect((await call("GET", path)).body.audit_streams).toEqual([]);
  });

  // AU-97
  test.each<[string, unknown, string[]]>([
    ["nothing", {}, [""]],
    ["failing as a status", { status: "failing" }, ["status"]],
    ["a wrong url", { url: "http://10.0.0.1/" }, ["url"]],
    ["a wrong filter", { filter: { service: 1 } }, ["filter.service"]],
  ])("422 for a change with %s, which changes nothing", async (_, body, fields) => {
    const path = fresh();
    const { secret: _secret, ...stream } = (await created(path)).body;
    expect(fieldsOf(await call("PATCH", `${path}/${stream.id}`, body))).toEqual(fields);
    expect((await call("GET", `${path}/${stream.id}`)).body).toEqual(stream);
  });

  // AU-97
  test("are 422 for an invalid overlap, query or organization id, and for a duplicate name in the body", async () => {
    const path = fresh();
    const { id } = (await created(path)).body;
    for (const overlap_seconds of [-1, 604_801, 1.5, "60", null]) {
      const response = await call("POST", `${path}/${id}/rotate-secret`, { overlap_seconds });
      expect(fieldsOf(response)).toEqual(["overlap_seconds"]);
    }
    expect(fieldsOf(await call("GET", `${path}?limit=0&starting_after=x&nope=1`))).toEqual([
      "limit",
      "nope",
      "starting_after",
    ]);
    expect(fieldsOf(await call("GET", `${path}?limit=1&limit=2`))).toEqual(["limit"]);
    expect(fieldsOf(await call("GET", `${path}/${id}?x=1`))).toEqual(["x"]);
    expect(fieldsOf(await call("GET", `/organizations/${"o".repeat(129)}/audit-streams`))).toEqual([
      "organization_id",
    ]);
    expect(fieldsOf(await call("GET", "/organizations/%00/audit-streams"))).toEqual(["organization_id"]);
    expect((await call("POST", path, '{"url":"https://a.example/","url":"https://b.example/"}')).status).toBe(
      422,
    );
  });

  // AU-95
  test("begin with the next entry, with a position or with a time", async () => {
    await writeEvents(audit, 3);
    const { end } = await exportProof(audit);
    const lag = async (body: Record<string, unknown>) => {
      const { lag_events, id } = (await created(STREAMS, body)).body;
      await call("DELETE", `${STREAMS}/${id}`);
      return lag_events;
    };
    expect(await lag({})).toBe(0);
    expect(await lag({ from_position: 1 })).toBe(end.head.position);
    expect(await lag({ from_position: end.head.position + 1 })).toBe(0);
    expect(await lag({ from_time: "2020-01-01T00:00:00Z" })).toBe(end.head.position);
    expect(await lag({ from_time: "2099-01-01T00:00:00Z" })).toBe(0);
    expect(await lag({ from_position: end.head.position })).toBe(1);
    expect(
      fieldsOf(await call("POST", STREAMS, { url: URL_OK, from_position: end.head.position + 2 })),
    ).toEqual(["from_position"]);
  });

  // AU-96, AU-99
  test("send a test call, signed with both secrets during the overlap of a rotation, and say why it failed", async () => {
    const path = fresh();
    const { body } = await created(path, { url: receiver.url });
    const rotated = (await call("POST", `${path}/${body.id}/rotate-secret`, {})).body;
    expect(rotated.secret).not.toBe(body.secret);
    const tested = await call("POST", `${path}/${body.id}/test`);
    expect(tested.body).toEqual({
      delivered: true,
      status: 204,
      error: null,
      duration_ms: expect.any(Number),
    });
    const got = receiver.calls.find((each) => each.body.includes(body.id));
    for (const secret of [body.secret, rotated.secret]) {
      expect(new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {})).toMatchObject({
        type: "audit.test",
        data: { stream_id: body.id },
      });
    }
    const alone = (await call("POST", `${path}/${body.id}/rotate-secret`, { overlap_seconds: 0 })).body;
    await call("POST", `${path}/${body.id}/test`);
    const last = receiver.calls.findLast((each) => each.body.includes(body.id));
    expect(() => new Webhook(rotated.secret).verify(last?.body ?? "", last?.headers ?? {})).toThrow();
    new Webhook(alone.secret).verify(last?.body ?? "", last?.headers ?? {});
    receiver.respond = () => new Response("no", { status: 500 });
    expect((await call("POST", `${path}/${body.id}/test`)).body).toMatchObject({
      delivered: false,
      status: 500,
      error: "The receiver responded with 500.",
    });
  });

  // AU-99
  test("have at most two test calls of an organization at once, and others can test theirs", async () => {
    const [path, other] = [fresh(), fresh()];
    const { id } = (await created(path, { url: receiver.url })).body;
    const { id: next } = (await created(other, { url: receiver.url })).body;
    const released = Promise.withResolvers<void>();
    receiver.calls.length = 0;
    receiver.respond = async ({ body }) => {
      if (body.includes(id)) await released.promise;
      return new Response(null, { status: 204 });
    };
    const running = [1, 2].map(() => call("POST", `${path}/${id}/test`));
    await waitFor(() => receiver.calls.length === 2);
    const refused = await call("POST", `${path}/${id}/test`);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "10"]);
    expect((await call("POST", `${other}/${next}/test`)).body.delivered).toBe(true);
    released.resolve();
    for (const { body } of await Promise.all(running)) expect(body.delivered).toBe(true);
    expect((await call("POST", `${path}/${id}/test`)).body.delivered).toBe(true);
  });
});

// AU-98
test("without AUDIT_STREAM_KEY_FILE, creating a stream is 409 and listing streams still works", async () => {
  await using audit = await startAudit();
  const response = await callStreams(audit, "POST", STREAMS, { url: URL_OK });
  expect([response.status, response.body.error.details.field]).toEqual([409, "AUDIT_STREAM_KEY_FILE"]);
  expect((await callStreams(audit, "GET", STREAMS)).body).toEqual({ audit_streams: [], has_more: false });
});
