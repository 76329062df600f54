/** Tests of the program in lifecycle-feed.md: it must not miss an event, whenever it is killed. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { commandsOf } from "../../../support/documents/documents.ts";
import { type Command, moved, Reader, withNodeOrBun } from "../../../support/documents/guide-reader.ts";
import { type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const GUIDE = ".github/guides/lifecycle-feed.md";
const TOKEN = "feed-internal-token";

let reader: Reader;
let identity: RunningProcess;
let follow: string;
const running: Running[] = [];

interface Running {
  command: Command;
  /** Resolves when all output of the command has been read. */
  read: Promise<void>;
}

beforeAll(async () => {
  const env = {
    DATABASE_URL: await freshDatabase(),
    ROLES_FILE: "seeds/roles.yaml",
    INTERNAL_AUTH_TOKEN: TOKEN,
  };
  identity = await startProcess("apps/identity/main.ts", env);
  reader = await Reader.open({ IDENTITY_URL: identity.internalUrl, INTERNAL_AUTH_TOKEN: TOKEN });
  const [program = "", start = ""] = await commandsOf(GUIDE, "A reader that can be stopped at any moment");
  await reader.run(program);
  follow = withNodeOrBun(start.trim());
});
afterEach(async () => {
  for (const each of running.splice(0)) await killed(each);
  await rm(join(reader.directory, "lifecycle-cursor"), { force: true });
});
afterAll(async () => {
  await identity.stop();
});

async function killed({ command, read }: Running): Promise<void> {
  command.kill("SIGKILL");
  await Promise.all([command.exited, read]);
}

/** Starts the program of the guide, and appends to `seen` the id of each event that the program prints. */
function started(seen: string[], env: Record<string, string> = {}): Running {
  const command = reader.start(`exec ${follow}`, env);
  const read = async () => {
    let rest = "";
    for await (const chunk of command.stdout) {
      const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
      rest = lines.pop() ?? "";
      seen.push(...lines.map((line) => JSON.parse(line).id));
    }
  };
  const program = { command, read: read() };
  running.push(program);
  return program;
}

async function internal(method: string, path: string, body?: object) {
  const response = await fetch(`${identity.internalUrl}${path}`, {
    method,
    headers: { "X-Platform-Internal-Token": TOKEN, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return JSON.parse(await response.text());
}

/** Creates a person with `count` organizations. Each organization adds two events to the feed. */
async function organizations(count: number): Promise<void> {
  const idp = { issuer: "https://login.example.com", subject: crypto.randomUUID() };
  const { user_id } = await internal("POST", "/internal/credentials/validate", { idp });
  for (let n = 0; n < count; n++) {
    const made = await fetch(`${identity.url}/users/${user_id}/organizations`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: `Organization ${n}` }),
    });
    expect(made.status).toBe(201);
  }
}

async function wholeFeed(): Promise<string[]> {
  const { lifecycle_events } = await internal("GET", "/internal/lifecycle-events?limit=500");
  return lifecycle_events.map(({ id }: { id: string }) => id);
}

describe("the program of lifecycle-feed.md", () => {
  test("has a first command that shows the feed", async () => {
    await organizations(2);
    const [show = ""] = await commandsOf(GUIDE, "Follow the lifecycle feed");
    await Bun.write(join(reader.directory, ".ostiary/internal-token"), TOKEN);
    const places = { "http://127.0.0.1:3001": identity.internalUrl };
    const page = JSON.parse(await reader.run(moved(show, places)));
    expect(page).toMatchObject({ has_more: true, lifecycle_events: [{ type: "organization.created" }, {}] });
  });

  test("misses no event when it is killed and restarted, and repeats at most one", async () => {
    const seen: string[] = [];
    await organizations(20);
    const first = started(seen);
    await waitFor(() => seen.length > 0, { what: "the first events" });
    await killed(first);
    await organizations(20);
    const feed = await wholeFeed();
    started(seen);
    await waitFor(() => seen.at(-1) === feed.at(-1), { timeoutMs: 30_000, what: "the last event" });
    expect([...new Set(seen)]).toEqual(feed);
    expect(seen.length - feed.length).toBeLessThanOrEqual(1);
  });
});
