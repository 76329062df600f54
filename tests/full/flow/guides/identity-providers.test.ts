/** Tests that the commands of identity-providers.md connect third-party identity providers. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { productionSecrets } from "../../../app/platform/bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { type Command, Reader, readUntil } from "../../../support/documents/guide-reader.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { ROOT } from "../../../support/root.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { ended, type QuickStart, startQuickStart } from "./quick-start.ts";

setDefaultTimeout(600_000);

const GUIDE = ".github/guides/identity-providers.md";
const AUDIENCE = "https://api.example.com";

let reader: Reader;
let provider: Command;
let ostiary: QuickStart | undefined;

beforeEach(async () => {
  reader = await Reader.open();
});
afterEach(async () => {
  await ostiary?.stop();
  await ended(provider);
  ostiary = undefined;
});

interface Seen {
  status: number;
  person: { id?: string; status?: string };
  claims: Record<string, unknown>;
}

/**
 * Runs the guide's steps for any identity provider. `tokenCommands` replaces the step that gets a token.
 */
async function connect(settings: Record<string, string>, tokenCommands?: string): Promise<Seen> {
  const [discover = "", start = "", token = "", look = "", call = ""] = await commandsOf(
    GUIDE,
    "Any provider",
  );
  const variables = Object.entries(settings).map(([name, value]) => `export ${name}='${value}'\n`);
  const found = await reader.run(`${variables.join("")}${discover}`);
  expect(found).toContain(`AUTH_ISSUER=${settings.PROVIDER}\n`);
  expect(start.trim()).toEndWith("DEMO=false bun start");
  const env = Object.fromEntries(
    found
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/).slice(0, 2)),
  );
  ostiary = await startQuickStart(reader, {
    ...env,
    ...(await productionSecrets()),
    DEMO: "false",
    DATABASE_URL: await freshDatabase(),
    LOG_LEVEL: "debug",
    LOG_FILE: join(reader.directory, "gateway.log"),
  });
  const gateway = `export GATEWAY=http://${ostiary.places["127.0.0.1:5001"]}\n`;
  const withStatus = call.replace("curl -s", "curl -s -w '\\n%{http_code}\\n'");
  const [, claims = "", output = ""] = await reader.runAll([
    `${variables.join("")}${gateway}${tokenCommands ?? token}`,
    look,
    withStatus,
  ]);
  const [body = "", status] = output.trim().split("\n");
  return { status: Number(status), person: JSON.parse(body), claims: JSON.parse(claims) };
}

describe("a standard OpenID provider", () => {
  const settings = { AUDIENCE, CLIENT_ID: "ten-minutes", CLIENT_SECRET: "ten-minutes-secret" };
  let url: string;

  beforeEach(async () => {
    const port = freePort();
    url = `http://127.0.0.1:${port}`;
    provider = reader.start(`exec bun ${join(ROOT, "tests/support/pages/oidc-provider-process.ts")} ${port}`);
    await readUntil(provider.stdout, "listening");
  });

  test("is connected by the steps for any provider", async () => {
    const seen = await connect({ ...settings, PROVIDER: url });
    expect(seen.claims).toMatchObject({ iss: url, aud: AUDIENCE, sub: "ten-minutes" });
    expect(seen).toMatchObject({ status: 200, person: { status: "active" } });
  });

  test("cannot be used with a token for another API, and the log says why", async () => {
    const [, , token = ""] = await commandsOf(GUIDE, "Any provider");
    const elsewhere = token.replace("$AUDIENCE", "https://other.example.com");
    expect(await connect({ ...settings, PROVIDER: url }, elsewhere)).toMatchObject({
      status: 401,
      claims: { aud: "https://other.example.com" },
    });
    const [reasons = ""] = await commandsOf(GUIDE, "When it does not work");
    const line = await waitFor(async () => (await reader.run(reasons)) || null, {
      what: "the line of the refusal",
    });
    expect(line).toContain(
      `1 audience: The token's aud is "https://other.example.com", but AUTH_ALLOWED_AUDIENCES is ["${AUDIENCE}"].`,
    );
  });
});
