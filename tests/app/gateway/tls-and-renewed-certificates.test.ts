/** Tests TLS on the gateway's public port, with a certificate that is reloaded when its files change. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { services, startProcess, waitFor } from "../../support/index.ts";
import { headerValue, OK } from "../../support/raw-http.ts";
import { ProcessEnded } from "../../support/start-process.ts";
import { handshake, useTlsGateways } from "./tls-bed.ts";

setDefaultTimeout(60_000);

const { certificates, first, second, service, start, ...bed } = useTlsGateways();
const trusted = { tls: { ca: bed.trusted } };

const shown = async (url: string) => (await handshake(url)).name;

// GW-156
describe.skipIf(!services().etcd.real)("a gateway with a certificate", () => {
  test("serves its clients over TLS, and sends services X-Forwarded-Proto: https", async () => {
    const { gateway, url } = await start();
    const answer = await fetch(`${url}/things?a=1`, { ...trusted, method: "POST", body: "hello" });
    expect([answer.status, await answer.text()]).toEqual([200, "ok"]);
    expect(service.request.target).toBe("/things?a=1");
    expect(headerValue(service.request.headers, "x-forwarded-proto")).toBe("https");
    expect((await fetch(`${gateway.internalUrl}/health/live`)).status).toBe(200);
    await expect(fetch(`${gateway.url}/things`)).rejects.toThrow();
    // A client that does not trust the certificate fails.
    await expect(fetch(`${url}/things`)).rejects.toThrow();
    expect((await fetch(`${url}/things`, trusted)).status).toBe(200);
  });

  test("serves a renewed certificate without losing a request", async () => {
    const { url, renew } = await start();
    const statuses: (number | string)[] = [];
    let stopped = false;
    const ask = async (keepalive: boolean) => {
      const answer = await fetch(`${url}/things`, { ...trusted, keepalive, method: "POST", body: "x" });
      return (await answer.text()) === "ok" ? answer.status : "torn";
    };
    const client = async (keepalive: boolean) => {
      while (!stopped) {
        // A new connection can fail if it is opened while the first server stops, so the client tries once
        // more.
        const answered = keepalive ? ask(true) : ask(false).catch(() => ask(false));
        statuses.push(await answered.catch(String));
      }
    };
    const clients = [client(true), client(true), client(false)];
    service.handler = (request) => (isSlow(request) ? null : OK);
    const slow = fetch(`${url}/things?slow`, trusted).then(({ status }) => status, String);
    await waitFor(() => service.requests.some(isSlow));

    renew();
    await waitFor(async () => (await shown(url)) === "second", { what: "the renewed certificate" });
    // Wait until the first server has stopped: then every new connection gets the second certificate.
    await waitFor(async () =>
      (await Promise.all(Array.from({ length: 20 }, () => shown(url)))).every(isSecond),
    );
    stopped = true;
    await Promise.all(clients);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(statuses.length).toBeGreaterThan(0);

    const connection = service.requests.find(isSlow)?.connection ?? 0;
    service.sockets[connection - 1]?.send(OK);
    expect(await slow).toBe(200);
  });

  test("keeps the last certificate while the key does not match the new one, and logs that once", async () => {
    const { gateway, url, files, renew } = await start();
    writeFileSync(files.certFile, second.cert);
    const warnings = () => gateway.logs().filter(({ level }) => level === "warn");
    await waitFor(() => warnings().some(({ message }) => String(message).includes("TLS_CERT_FILE")));
    expect(await shown(url)).toBe("first");
    expect((await fetch(`${url}/things`, trusted)).status).toBe(200);
    renew();
    await waitFor(async () => (await shown(url)) === "second");
    const told = warnings().filter(({ message }) => String(message).includes("TLS_CERT_FILE"));
    expect(told).toHaveLength(1);
  });
});

const isSlow = ({ target }: { target: string }) => target === "/things?slow";
const isSecond = (name: string) => name === "second";

// OP-23
describe("the gateway does not start with an unusable certificate:", () => {
  const wrongKey = "TLS_KEY_FILE must hold a private key in PEM form, without a passphrase.";
  test.each<[string, () => [cert: string, key: string], string]>([
    ["no key", () => [first.certFile, ""], "TLS_KEY_FILE is required if TLS_CERT_FILE is set."],
    ["no certificate", () => ["", first.keyFile], "TLS_CERT_FILE is required if TLS_KEY_FILE is set."],
    [
      "a key of another certificate",
      () => [first.certFile, second.keyFile],
      "TLS_KEY_FILE must hold the private key of the certificate in TLS_CERT_FILE.",
    ],
    [
      "a missing file",
      () => [join(certificates.folder, "none"), first.keyFile],
      "TLS_CERT_FILE must be a file that this user may read.",
    ],
    [
      "a folder in place of a file",
      () => [certificates.folder, first.keyFile],
      "TLS_CERT_FILE must be a file that this user may read.",
    ],
    [
      "a key in place of the certificate",
      () => [first.keyFile, first.keyFile],
      "TLS_CERT_FILE must hold a certificate in PEM form, with its chain after it.",
    ],
    ["a certificate in place of the key", () => [first.certFile, first.certFile], wrongKey],
    [
      "a key with a passphrase",
      () => {
        const locked = certificates.make("locked", { passphrase: "hunter2" });
        return [locked.certFile, locked.keyFile];
      },
      wrongKey,
    ],
  ])("%s", async (_, files, message) => {
    const [TLS_CERT_FILE, TLS_KEY_FILE] = files();
    const refused = await startProcess("apps/gateway/main.ts", {
      ...{ TLS_CERT_FILE, TLS_KEY_FILE, COUNTER_STORE_URL: "memory://", AUDIT_ENABLED: "false" },
      CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
    }).catch((error: unknown) => error);
    if (!(refused instanceof ProcessEnded))
      throw new Error("The gateway must refuse to start, but it started.");
    expect([refused.exitCode, ...refused.stderr]).toEqual([
      78,
      "The configuration is not valid:",
      `  ${message}`,
    ]);
  });
});
