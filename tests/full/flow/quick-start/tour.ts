import { expect } from "bun:test";
import { pasteInto, SHELLS } from "../../../support/processes/interactive-shell.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

/** The output of each step of the tour, by its heading. */
type TourOutput = Map<string, string>;

/** Matches error messages of shells. */
const COMPLAINT = /not found|no match|bad pattern|parse error|syntax error|event not|No such file/i;

/** Pastes the printed tour unchanged into an interactive shell in another folder. Returns its output. */
export async function takeTour(text: string, shell = "bash", bracketed = true): Promise<TourOutput> {
  const cwd = temporaryFolder("elsewhere");
  const { stdout, screen } = await pasteInto(SHELLS[shell] ?? [], text, { cwd, bracketed });
  expect(screen).not.toMatch(COMPLAINT);
  const parts = stdout.split(/^== /m).slice(1);
  return new Map(
    parts.map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1)]),
  );
}

/** Returns the output of the step whose heading contains `words`. Exactly one heading must contain them. */
export function step(output: TourOutput, words: string): string {
  const found = [...output].filter(([shows]) => shows.includes(words));
  expect(found.map(([shows]) => shows)).toHaveLength(1);
  return found[0]?.[1] ?? "";
}

const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/** Matches headers that the gateway must not forward to a service. */
const HIDDEN = /authorization|api-key|audit|forwarded/;
/** Matches the same headers behind a trusted balancer, except `Forwarded`, which has the client's address. */
export const HIDDEN_BEHIND_A_BALANCER = /authorization|api-key|audit/;

/** Expects that each step of the tour has the output that its heading promises. */
export function expectTour(output: TourOutput, hidden = HIDDEN): void {
  const [person] = bodiesOf(step(output, "creates the person"), 200);
  expect(person).toMatchObject({
    id: expect.stringMatching(new RegExp(`^${ULID}$`)),
    display_name: null,
    status: "active",
  });
  expect(step(output, "opens a session")).toMatch(new RegExp(`organization ${ULID}, session ostiary-s-2-`));
  expectEcho(bodiesOf(step(output, "no credential"), 200)[0], hidden);
  const [forbidden] = bodiesOf(step(output, "refused where the route wants a label"), 403);
  expect(forbidden.error).toMatchObject({
    code: "FORBIDDEN",
    details: { permission: "required_labels", resource: "route", required_labels: ["things:write"] },
  });
  expectLimited(step(output, "one too many"));
  expectRotated(bodiesOf(step(output, "key is rotated"), 200, 200, 200)[0].keys);
  expect(bodiesOf(step(output, "A bad key"), 401)[0].error.code).toBe("UNAUTHORIZED");
  expect(bodiesOf(step(output, "nobody published"), 404)[0].error.code).toBe("NOT_FOUND");
  expectAuditLog(bodiesOf(step(output, "its own audit log"), 200, 200)[1].audit_events);
  expect(step(output, "Server-sent events").match(/^data: /gm)).toHaveLength(5);
  const [, served] = bodiesOf(step(output, "the gateway serves it"), 200, 200);
  expect(served.path).toBe("/tour/two");
  const [, gone] = bodiesOf(step(output, "the route is gone"), 200, 404);
  expect(gone.error.code).toBe("NOT_FOUND");
  expect(output.size).toBe(13);
}

/**
 * Returns the JSON bodies that a step shows, and expects these statuses. Each body has its status on the next
 * line.
 */
// biome-ignore lint/suspicious/noExplicitAny: looked at field by field
function bodiesOf(printed: string, ...statuses: number[]): any[] {
  const lines = printed.trim().split("\n");
  const shown = lines.flatMap((line) => (line.startsWith("HTTP ") ? [Number(line.slice(5))] : []));
  expect(shown).toEqual(statuses);
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

function expectEcho(echo: { path: string; headers: Record<string, string> }, hidden: RegExp): void {
  expect(echo.path).toMatch(new RegExp(`^/organizations/${ULID}/things/42\\?color=red$`));
  const names = Object.keys(echo.headers);
  expect(names.filter((name) => hidden.test(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(["x-request-id", "traceparent"]));
}

function expectLimited(printed: string): void {
  expect(printed.match(/^HTTP\/1\.1 \d+/gm)).toEqual([
    "HTTP/1.1 200",
    "HTTP/1.1 200",
    "HTTP/1.1 200",
    "HTTP/1.1 429",
  ]);
  const remaining = [...printed.matchAll(/^x-ratelimit-remaining: (\d+)/gim)].map(([, value]) => value);
  expect(remaining).toEqual(["2", "1", "0", "0"]);
  expect(printed.match(/^retry-after: \d+/gim)).toHaveLength(1);
}

function expectRotated(ending: { created_at: string; expires_at: string }[]): void {
  expect(ending).toHaveLength(1);
  expect(ending[0]).toMatchObject({ name: "Unnamed Key", revoked_at: null });
  const lifetimeMs = ending.map((key) => Date.parse(key.expires_at) - Date.parse(key.created_at));
  expect(lifetimeMs[0]).toBeGreaterThan(60_000);
}

function expectAuditLog(audit_events: { route: string }[]): void {
  expect(audit_events[0]).toMatchObject({
    service: "identity",
    method: "PATCH",
    route: "/org",
    outcome: "responded",
    status: 200,
    details: { name: { from: "Acme", to: "Acme & Daughters" } },
  });
  const refused = audit_events.find(({ route }) => route === "/demo/things/{thing_id}");
  expect(refused).toMatchObject({
    method: "PUT",
    outcome: "rejected",
    status: 403,
    params: { thing_id: "42" },
  });
  expect(JSON.stringify(audit_events)).not.toContain("user_id");
}

/** Waits until a platform has printed the tour on standard output, and returns the tour. */
export async function printedTour(stdout: readonly string[]): Promise<string> {
  const lines = () => stdout.filter((line) => !line.startsWith("{"));
  await waitFor(() => lines().some((line) => line.includes("/restore")), {
    timeoutMs: 60_000,
    what: "the tour",
  });
  const all = lines();
  const start = all.findIndex((line) => line.startsWith("The tour:"));
  return all.slice(all.indexOf("", start) + 1).join("\n");
}
