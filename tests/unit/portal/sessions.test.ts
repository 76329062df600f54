/** Tests of when the portal's page opens a session, with a fake network and wrong clocks. */
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import type { Credential } from "@ostiary/client";
import { isRecord } from "@ostiary/lib/domain/json";
import { Type } from "@sinclair/typebox";
import { Gateway } from "../../../apps/portal/page/gateway.ts";
import { OrganizationSession, remainingMs } from "../../../apps/portal/page/organization-session.ts";

const HOUR_MS = 3_600_000;
const id = "01M8MN4QXATR9MTPEEENK9WN15";
/** An organization that nobody is a member of. */
const other = "01M8MN4QXATR9MTPEEENK9WN17";
const member_id = "01M8MN4QXATR9MTPEEENK9WN16";
/** The organization of the first page of memberships. */
const first = "01M8MN4QXATR9MTPEEENK9WN18";
/** The storage of the tab. */
let tab = new Map<string, string>();

/** Returns a page whose clock differs from the server's clock, and the sessions that the server opened for it. */
function pageWith({ skewMs = 0, person = "ada", role = "owner", chosen = () => true } = {}) {
  const opened: string[] = [];
  const serverMs = () => Date.now() - skewMs;
  let gate: Promise<void> = Promise.resolve();
  const fetch = async ({ url }: Request) => {
    if (!url.endsWith("/session")) {
      const has_more = !url.includes("starting_after");
      const organization = { id: has_more ? first : id, name: "Engines" };
      const membership = { id: member_id, organization, role, status: "active" };
      return Response.json({ memberships: [membership], has_more });
    }
    await gate;
    const token = `session-${opened.length + 1}-of-${person}`;
    opened.push(token);
    const expires_at = new Date(serverMs() + HOUR_MS).toISOString();
    const organization_id = url.includes(first) ? first : id;
    const session = { token, expires_at, member_id, organization_id, role, labels: [] };
    return Response.json(session, { headers: { Date: new Date(serverMs()).toUTCString() } });
  };
  const credential: Credential = { header: "X-API-Key", value: () => "any" };
  const gateway = new Gateway({ member: credential, person: credential }, "https://api.test", {
    fetch,
    sleep: async () => {},
  });
  const session = new OrganizationSession(gateway, {
    isChosen: chosen,
    person: () => person,
    left: () => {},
  });
  const token = () => session.token(null).catch(() => "none");
  return { session, opened, token, wait: (until: Promise<void>) => (gate = until) };
}

function refusal(): Response {
  const error = { type: "invalid_request_error", code: "UNAUTHORIZED", message: "Authentication required." };
  const headers = { "X-Request-ID": "1" };
  return Response.json({ error: { ...error, request_id: "1", details: null } }, { status: 401, headers });
}

describe("the session of an organization", () => {
  Object.assign(globalThis, {
    sessionStorage: {
      getItem: (key: string) => tab.get(key) ?? null,
      setItem: (key: string, value: string) => tab.set(key, value),
      removeItem: (key: string) => tab.delete(key),
    },
  });
  afterEach(() => {
    tab = new Map();
    setSystemTime();
  });

  // PT-21
  test.each([0, HOUR_MS, -HOUR_MS, 365 * 24 * HOUR_MS])(
    "is opened once for many calls when the browser's clock is %d ms ahead",
    async (skewMs) => {
      const { session, opened, token } = pageWith({ skewMs });
      await session.choose(id);
      for (let call = 0; call < 21; call += 1) await token();
      expect(opened).toHaveLength(1);
    },
  );

  // PT-21
  test("survives a reload of the tab, but not its last minutes, another role or another person", async () => {
    const first = pageWith();
    await first.session.choose(id);
    const reloaded = pageWith();
    await reloaded.session.choose(id);
    expect([await reloaded.token(), reloaded.opened]).toEqual(["session-1-of-ada", []]);
    for (const changed of [pageWith({ role: "viewer" }), pageWith({ person: "eve" })]) {
      const kept = new Map(tab);
      await changed.session.choose(id);
      expect(changed.opened).toHaveLength(1);
      tab = kept;
    }
    setSystemTime(Date.now() + HOUR_MS - 60_000);
    const late = pageWith();
    await late.session.choose(id);
    expect(late.opened).toHaveLength(1);
  });

  // PT-11
  test.each([
    ["another organization is chosen", async () => void (await pageWith().session.choose(other))],
    ["another person signs in", async () => pageWith({ person: "eve" }).session.begin()],
    ["the person signs out", async () => pageWith().session.forget()],
    [
      "it has ended",
      async () => {
        setSystemTime(Date.now() + HOUR_MS);
        pageWith().session.begin();
      },
    ],
  ])("leaves the tab when %s", async (_, happen) => {
    await pageWith().session.choose(id);
    pageWith().session.begin();
    expect(tab.size).toBe(1);
    await happen();
    expect(tab.size).toBe(0);
  });

  // PT-11
  test.each(["PATCH", "GET"] as const)(
    "does not authenticate a refused %s call of the organization that the page has left",
    async (method) => {
      const { session, opened } = pageWith();
      const sent: (string | null)[] = [];
      const responses = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      const member: Credential = { header: "X-API-Key", value: (refused) => session.token(refused) };
      const gateway = new Gateway({ member, person: member }, "https://api.test", {
        sleep: async () => {},
        async fetch({ headers }) {
          sent.push(headers.get("X-API-Key"));
          asked.resolve();
          await responses.promise;
          return refusal();
        },
      });
      await session.choose(id);
      const body = method === "PATCH" ? { name: "Engines" } : undefined;
      const call = gateway.send(Type.Unknown(), "/org", { method, body });
      await asked.promise;
      await session.choose(first);
      responses.resolve();
      expect(await call).toMatchObject({ failure: { kind: "signed_out" } });
      expect([sent, opened.length]).toEqual([["session-1-of-ada"], 2]);
    },
  );

  // PT-15
  test("replaces a refused session of the same organization, also after a refresh", async () => {
    const { session } = pageWith();
    await session.choose(id);
    expect(await session.token("session-1-of-ada")).toBe("session-2-of-ada");
    await session.refresh();
    expect(await session.token("session-1-of-ada")).toBe("session-3-of-ada");
    expect(await session.token("session-2-of-ada")).toBe("session-3-of-ada");
  });

  // PT-16
  test("is not kept when it opens after the person signed out", async () => {
    const { session, token, wait } = pageWith();
    const { promise, resolve } = Promise.withResolvers<void>();
    wait(promise);
    const choosing = session.choose(id);
    session.forget();
    resolve();
    await choosing;
    expect([session.member.value, await token(), tab.size]).toEqual([null, "none", 0]);
    await session.choose(id);
    expect(tab.size).toBe(1);
    session.forget();
    expect([session.memberships.value, tab.size]).toEqual([null, 0]);
  });

  // PT-21
  test("works without storage", async () => {
    const { getItem } = sessionStorage;
    const blocked = () => {
      throw new DOMException("blocked", "SecurityError");
    };
    Object.assign(sessionStorage, { getItem: blocked, setItem: blocked, removeItem: blocked });
    const { session, token } = pageWith();
    await session.choose(id);
    expect(await token()).toBe("session-1-of-ada");
    session.forget();
    Object.assign(sessionStorage, { getItem });
    expect(isRecord(sessionStorage)).toBe(true);
  });

  // PT-21
  test("does not last longer when the clock is set back", () => {
    expect(remainingMs({ openedMs: 1_000, lifetimeMs: 60_000 }, 11_000)).toBe(50_000);
    expect(remainingMs({ openedMs: 1_000, lifetimeMs: 60_000 }, 0)).toBe(0);
  });
});
