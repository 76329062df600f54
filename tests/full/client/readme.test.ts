/** Runs the samples of the client's README against a platform, in each runtime that is installed. */
import { expect, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { marked } from "marked";
import { Webhook } from "standardwebhooks";
import { startPlatformHere } from "../../app/platform/bed.ts";
import { moved } from "../../support/documents/guide-reader.ts";
import { duringTests } from "../../support/during-tests.ts";
import { ROOT } from "../../support/root.ts";
import { inEachRuntime } from "./runtimes-suite.ts";

setDefaultTimeout(240_000);

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes ...").toString("base64")}`;
const platform = duringTests(() => startPlatformHere({ RATE_LIMIT_REQUESTS: "100000" }));

/** Returns the samples of the README as one module, whose `main` returns what the samples made. */
async function samples(): Promise<string> {
  const readme = await Bun.file(join(ROOT, "lib/client/README.md")).text();
  const blocks = marked
    .lexer(readme)
    .flatMap((token) => (token.type === "code" && token.lang === "ts" ? [token.text] : []));
  expect(blocks.length).toBeGreaterThan(8);
  const { addresses, tour } = platform;
  const lines = moved(blocks.join("\n"), {
    "http://127.0.0.1:5001": addresses.gatewayUrl,
    "http://127.0.0.1:5002": addresses.registryUrl,
  }).split("\n");
  const imports = lines.filter((line) => line.startsWith("import "));
  const code = lines.filter((line) => !line.startsWith("import ")).join("\n");
  // The registry responds to pages of its own origin only.
  const registry = code.indexOf("const registry =");
  const subject = `reader-${crypto.randomUUID()}`;
  const token = await (await fetch(`${tour?.identityProviderUrl}/token?subject=${subject}`)).text();
  const at = new Date();
  const headers = {
    "webhook-id": "1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(SECRET).sign("1", at, "{}"),
  };
  return `${imports.join("\n")}
const currentToken = () => ${JSON.stringify(token)};
const secret = ${JSON.stringify(SECRET)};
const adminToken = ${JSON.stringify(await Bun.file(platform.adminTokenFile).text())};
async function main() {
${code.slice(0, registry)}
const init = { method: "POST", body: "{}", headers: ${JSON.stringify(headers)} };
const received = await receive(new Request("http://receiver.test", init));
const made = { name: organization.name, role: own.role, statuses: [response.status, received.status], roles: roles.roles.length > 0 };
if (typeof window !== "undefined" && "document" in window) return { ...made, registry: true };
${code.slice(registry)}
return { ...made, registry: "identity" in published.services };
}
`;
}

// CL-1, CL-4, CL-5, CL-9
inEachRuntime("the samples of the client's README run", async ({ run }) => {
  expect(await run(await samples(), new URL("/portal", platform.addresses.gatewayUrl).href)).toEqual({
    name: "Engines",
    role: "owner",
    statuses: [200, 204],
    roles: true,
    registry: true,
  });
});
