import { join } from "node:path";
import { intent, startAudit } from "../../../app/audit/bed.ts";
import { ADMIN_TOKEN, startRegistry } from "../../../app/registry/bed.ts";
import { freshDatabase, startProcess } from "../../../support/index.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

export const SERVICES = ["registry", "identity", "audit"] as const;
export type ServiceName = (typeof SERVICES)[number];

/** Running services. Identity has one person, and audit has three events of one organization. */
interface ClientServices extends AsyncDisposable {
  readonly folder: string;
  readonly env: Record<string, string>;
}

const LOGGED_ORGANIZATION = "01KA4YB0Q9X3M5N7P8R2S6T1VW";

/** @param within the folder in which to create the folder with the descriptions */
export async function startClientServices(within?: string): Promise<ClientServices> {
  const [registry, identity, audit] = await Promise.all([
    startRegistry(),
    startProcess("apps/identity/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ROLES_FILE: "seeds/roles.yaml",
    }),
    startAudit(),
  ]);
  const urls: Record<ServiceName, string> = {
    registry: registry.url,
    identity: identity.url,
    audit: audit.url,
  };
  for (const request of ["one", "two", "three"]) {
    await audit.put(
      request,
      intent({ organization_id: LOGGED_ORGANIZATION, params: { widget_id: request } }),
    );
  }
  await audit.patch("three", { outcome: "responded", status: 201, details: { name: "x" }, created_id: "w1" });
  const folder = temporaryFolder("client", within);
  for (const name of SERVICES) {
    await Bun.write(join(folder, `${name}.json`), await fetch(`${urls[name]}/swagger/json`));
  }
  return {
    folder,
    env: {
      REGISTRY_URL: registry.url,
      ADMIN_TOKEN,
      IDENTITY_URL: identity.url,
      AUDIT_URL: audit.url,
      USER_ID: await newPerson(identity.internalUrl),
      LOGGED_ORGANIZATION,
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([registry.stop(), identity.stop(), audit.stop()]);
    },
  };
}

async function newPerson(internalUrl: string): Promise<string> {
  const response = await fetch(`${internalUrl}/internal/credentials/validate`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ idp: { issuer: "https://login.example.com", subject: "ada" } }),
  });
  return String(JSON.parse(await response.text()).user_id);
}

export const EXPECTED = {
  planned: { status: "created", changes: 3 },
  applied: { service: "widgets", revision: 1 },
  conflict_owner: "widgets",
  read: { url: "http://widgets:8080", methods: ["GET"], requests: 10 },
  revisions: ["restore", "put", "apply"],
  missing: { code: "NOT_FOUND", resource: "service" },
  refused: "services.wrong.url",
  organization: "Engines 🚪",
  invite: { max_uses: null, use_count: 0, days: 7 },
  keys: ["Unnamed Key", "Deploy script", "Deploy script"],
  rotated: { name: "Deploy script", days: 7, ending: true },
  has_more: true,
  member_status: "active",
  removed_status: "removed",
  events: ["three", "two"],
  exported: 4,
  found: { request_id: "one", status: null },
  outcome: { outcome: "responded", status: 201 },
};

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

export async function run(
  command: string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<Run> {
  const { PATH = "", HOME = "", ...rest } = process.env;
  const tools = Object.entries(rest).filter(([name]) => /^(GO|PIP|PYENV|SSL|HTTPS?_PROXY)/.test(name));
  const child = Bun.spawn(command, {
    cwd: options.cwd,
    env: { PATH, HOME, ...Object.fromEntries(tools), ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
