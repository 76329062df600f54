/** Tests that the commands of several-issuers.md move a person from one identity provider to another. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { productionSecrets } from "../../../app/platform/bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { type Command, Reader, readUntil } from "../../../support/documents/guide-reader.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { ROOT } from "../../../support/root.ts";
import { freshDatabase, services } from "../../../support/stores/services.ts";
import { ended, type QuickStart, startQuickStart } from "./quick-start.ts";

setDefaultTimeout(600_000);

const GUIDE = ".github/guides/several-issuers.md";
const AUDIENCE = "https://api.example.com";
/** The subject of both providers' tokens: their client. */
const SUBJECT = "ten-minutes";

let reader: Reader;
let ostiary: QuickStart | undefined;
const providers: Command[] = [];

beforeEach(async () => {
  reader = await Reader.open();
});
afterEach(async () => {
  await ostiary?.stop();
  await Promise.all(providers.splice(0).map(ended));
});

async function startProvider(): Promise<string> {
  const port = freePort();
  const process = `exec bun ${join(ROOT, "tests/support/pages/oidc-provider-process.ts")} ${port}`;
  const provider = reader.start(process);
  providers.push(provider);
  await readUntil(provider.stdout, "listening");
  return `http://127.0.0.1:${port}`;
}

// biome-ignore lint/suspicious/noExplicitAny: looked at field by field
async function fetched(url: string, init?: RequestInit): Promise<any> {
  return (await fetch(url, init)).json();
}

async function tokenOf(provider: string): Promise<string> {
  const { token_endpoint } = await fetched(`${provider}/.well-known/openid-configuration`);
  const { access_token } = await fetched(token_endpoint, {
    method: "POST",
    headers: { Authorization: `Basic ${btoa("ten-minutes:ten-minutes-secret")}` },
    body: new URLSearchParams({ grant_type: "client_credentials", resource: AUDIENCE }),
  });
  return access_token;
}

// GW-230, ID-120, ID-121
test.if(services().postgres.real)(
  "a person of one provider is the same person at another after the guide",
  async () => {
    const [PROVIDER, NEXT] = await Promise.all([startProvider(), startProvider()]);
    const exported = (values: Record<string, string>) =>
      Object.entries(values)
        .map(([name, value]) => `export ${name}='${value}'\n`)
        .join("");
    const [write = "", start = ""] = await commandsOf(GUIDE, "Accept a second provider");
    const listed = JSON.parse(await reader.run(`${exported({ PROVIDER, NEXT, AUDIENCE })}${write}`));
    expect(listed.issuers.map(({ issuer }: { issuer: string }) => issuer)).toEqual([PROVIDER, NEXT]);
    expect(start.trim()).toBe("DEMO=false AUTH_ISSUERS_FILE=issuers.yaml bun start");
    const DATABASE_URL = await freshDatabase();
    ostiary = await startQuickStart(reader, {
      ...(await productionSecrets()),
      DEMO: "false",
      AUTH_ISSUERS_FILE: "issuers.yaml",
      DATABASE_URL,
    });
    const GATEWAY = `http://${ostiary.places["127.0.0.1:5001"]}`;
    const OLD_TOKEN = await tokenOf(PROVIDER);
    const { id } = await fetched(`${GATEWAY}/user`, { headers: { Authorization: `Bearer ${OLD_TOKEN}` } });
    await Bun.write(join(reader.directory, "subjects.json"), JSON.stringify({ [SUBJECT]: SUBJECT }));
    const settings = exported({
      PROVIDER,
      NEXT,
      DATABASE_URL,
      GATEWAY,
      OLD_TOKEN,
      STAFF_TOKEN: "",
      NEW_TOKEN: await tokenOf(NEXT),
      // The quick start has no staff gateway.
      USERS: `http://${ostiary.places["127.0.0.1:3000"]}/users`,
    });
    const [list = "", link = "", look = ""] = await commandsOf(GUIDE, "Find your people again");
    const [, linked, again, same] = await reader.runAll([`${settings}${list}`, link, link, look]);
    expect(linked).toBe(`${id} ${SUBJECT}\n`);
    expect(again).toBe(`${id} ${id}\n`);
    expect(same).toBe(`${id}\n${id}\n`);
  },
);
