import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { ReceiverDeps } from "../../../apps/audit/receivers/receiver-call.ts";
import { Certificates } from "../../support/http/certificates.ts";
import { BODY, errorOf, receiver } from "./stream-calls-bed.ts";

const NAME = "siem.example.com";

/**
 * Returns a DNS stub. Each lookup gets the next list of addresses in `resolved`, and the last list repeats.
 * `asked` records the names.
 */
function names(...resolved: string[][]) {
  const asked: string[] = [];
  const resolve = (
    name: string,
    _options: unknown,
    callback: (error: Error | null, addresses: { address: string; family: number }[]) => void,
  ) => {
    const list = resolved[Math.min(asked.length, resolved.length - 1)] ?? [];
    asked.push(name);
    queueMicrotask(() =>
      callback(
        list.length === 0 ? Object.assign(new Error("no address"), { code: "ENOTFOUND" }) : null,
        list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      ),
    );
  };
  return { asked, resolve };
}

// AU-100
describe("a call to the receiver of a stream", () => {
  const certificates = new Certificates();
  let server: Bun.Server<undefined>;
  const seen: { host: string | null; body: string }[] = [];
  let ca = "";
  beforeAll(() => {
    const authority = certificates.authority("streams");
    const pair = authority.sign("receiver", { names: `DNS:${NAME}` });
    ca = readFileSync(authority.certFile, "utf8");
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert: readFileSync(pair.certFile, "utf8"), key: readFileSync(pair.keyFile, "utf8") },
      async fetch(request) {
        seen.push({ host: request.headers.get("host"), body: await request.text() });
        return new Response("ok");
      },
    });
  });
  afterAll(() => server.stop(true));
  const port = () => server.port ?? 0;

  test("goes to the address that was checked, with the host name of its URL for TLS and Host", async () => {
    // A second lookup would return another address, so three successful calls show that there is only one
    // lookup.
    const { asked, resolve } = names(["127.0.0.1"], ["192.0.2.1"]);
    const call = receiver(`https://${NAME}:${port()}/hook`, [port()], { ca, resolve: asResolve(resolve) });
    for (let n = 0; n < 3; n++) {
      expect(await call.post(BODY, {})).toEqual({ outcome: "accepted", status: 200 });
    }
    expect(asked).toEqual([NAME]);
    expect(seen.slice(-3)).toEqual(Array(3).fill({ host: `${NAME}:${port()}`, body: '{"a":1}' }));
  });

  test("is refused for a certificate of another name, and for one from an untrusted CA", async () => {
    const { resolve } = names(["127.0.0.1"]);
    const other = receiver(`https://other.example.com:${port()}/`, [port()], {
      ca,
      resolve: asResolve(resolve),
    });
    expect(errorOf(await other.post(BODY, {}))).toStartWith("The receiver's certificate is not valid");
    const untrusted = receiver(`https://${NAME}:${port()}/`, [port()], { resolve: asResolve(resolve) });
    expect(errorOf(await untrusted.post(BODY, {}))).toStartWith("The receiver's certificate is not valid");
  });

  test("is refused if the name resolves only to forbidden addresses", async () => {
    const got = seen.length;
    for (const resolved of [["127.0.0.2"], ["10.0.0.1", "::1"], ["::ffff:127.0.0.2"], ["169.254.169.254"]]) {
      const { resolve } = names(resolved);
      const call = receiver(`https://${NAME}:${port()}/`, [port()], { ca, resolve: asResolve(resolve) });
      expect(errorOf(await call.post(BODY, {}))).toBe(
        "The receiver's name has no address that may be called.",
      );
    }
    expect(seen).toHaveLength(got);
  });

  test("goes to the only allowed address if the name resolves to several", async () => {
    const { resolve } = names(["10.0.0.1", "127.0.0.1", "::1"]);
    const call = receiver(`https://${NAME}:${port()}/`, [port()], { ca, resolve: asResolve(resolve) });
    expect(await call.post(BODY, {})).toEqual({ outcome: "accepted", status: 200 });
  });

  test("is refused for an address that the operator no longer allows", async () => {
    const call = receiver(`https://127.0.0.1:${port()}/`, [port()], { networks: [] });
    expect(errorOf(await call.post(BODY, {}))).toStartWith(
      "The operator's settings forbid calls to this address",
    );
  });

  test("is refused for a name without an address, and for a closed port", async () => {
    const { resolve } = names([]);
    const unknown = receiver(`https://${NAME}:${port()}/`, [port()], { resolve: asResolve(resolve) });
    expect(errorOf(await unknown.post(BODY, {}))).toBe("The receiver's name has no address.");
    const dead = receiver("http://127.0.0.1:1/", [1]);
    expect(errorOf(await dead.post(BODY, {}))).toBe("The receiver refused the connection.");
  });
});

/**
 * Casts the stub, which implements only the overload for all addresses. The receiver calls no other overload.
 */
function asResolve(resolve: ReturnType<typeof names>["resolve"]): ReceiverDeps["resolve"] {
  // biome-ignore lint/plugin: the one overload that is called has this shape
  return resolve as unknown as ReceiverDeps["resolve"];
}
