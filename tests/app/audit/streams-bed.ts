import { afterAll } from "bun:test";
import { randomBytes } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, unstalledClock } from "@ostiary/lib/async";
import { type DeliveredBody, ProvingReceiver, START } from "../../support/audit/proving-receiver.ts";
import { lastingFolder } from "../../support/temporary-folder.ts";
import {
  type AuditService,
  type AuditServiceOptions,
  json,
  type SharedAudit,
  sharedAudit,
  startAudit,
} from "./bed.ts";
import { writeKeyFile, writeSigningKey } from "./proof-bed.ts";

export {
  type DeliveredBody,
  type DeliveredEntry,
  ProvingReceiver,
  START,
} from "../../support/audit/proving-receiver.ts";

/** A request that a receiver got. */
interface ReceivedCall {
  headers: Record<string, string>;
  body: string;
}

/** A local HTTP server that receives the deliveries of streams. */
export interface TestReceiver extends Disposable {
  readonly url: string;
  readonly port: number;
  readonly calls: ReceivedCall[];
  /** Returns the response to a delivery. Tests replace this function. */
  respond: (call: ReceivedCall) => Response | Promise<Response>;
  stop(): void;
}

export function startReceiver(): TestReceiver {
  const stop = () => void server.stop(true);
  const calls: ReceivedCall[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    async fetch(request) {
      const call = { headers: Object.fromEntries(request.headers), body: await request.text() };
      calls.push(call);
      return receiver.respond(call);
    },
  });
  const receiver: TestReceiver = {
    url: `http://127.0.0.1:${server.port}/hook`,
    port: server.port ?? 0,
    calls,
    respond: () => new Response(null, { status: 204 }),
    stop,
    [Symbol.dispose]: stop,
  };
  return receiver;
}

/** Starts a receiver, and stops it after all tests of the file or `describe`. */
export function sharedReceiver(): TestReceiver {
  const receiver = startReceiver();
  afterAll(() => receiver.stop());
  return receiver;
}

/** Returns a new key, which is one line of the file AUDIT_STREAM_KEY_FILE. */
export function streamKey(): string {
  return randomBytes(32).toString("base64");
}

/** The signing key of all these services, because replicas of one log share their key. */
const SIGNING_KEY = join(lastingFolder("key"), "key.pem");
copyFileSync(writeSigningKey(), SIGNING_KEY);

/** Returns environment variables with which streams may call receivers on these local ports. */
export function streamVariables(ports: readonly number[], keyFile = writeKeyFile(`${streamKey()}\n`)) {
  return {
    SEAL_INTERVAL_MS: "50",
    AUDIT_SIGNING_KEY_FILE: SIGNING_KEY,
    AUDIT_STREAM_KEY_FILE: keyFile,
    AUDIT_STREAM_ALLOW_HTTP: "true",
    AUDIT_STREAM_ALLOWED_NETWORKS: "127.0.0.0/8",
    AUDIT_STREAM_ALLOWED_PORTS: ports.length === 0 ? "8443" : ports.join(","),
  };
}

export function startStreamingAudit(
  ports: readonly number[],
  options: AuditServiceOptions = {},
): Promise<AuditService> {
  return startAudit({ ...options, env: { ...streamVariables(ports), ...options.env } });
}

/** Starts an audit service that may call these receivers, for all tests of the file or `describe`. */
export function sharedStreamingAudit(
  receivers: readonly TestReceiver[],
  options?: AuditServiceOptions,
): SharedAudit {
  const ports = receivers.map(({ port }) => port);
  return sharedAudit(options, (given) => startStreamingAudit(ports, given));
}

/**
 * A clock on which the 10 s between two reads of the states or keys of streams, and the second between two claims, pass
 * in a fraction of a second.
 */
export const shortClock: Clock = {
  ...unstalledClock,
  after: (ms, work) => unstalledClock.after(ms === 10_000 || ms === 1_000 ? ms / 50 : ms, work),
};

export const STREAMS = "/organizations/organization-1/audit-streams";

/** Calls an endpoint of the audit service. A string body is sent unchanged, any other body as JSON. */
export async function callStreams(
  audit: Pick<AuditService, "url">,
  method: string,
  path: string,
  body?: unknown,
) {
  const response = await fetch(`${audit.url}${path}`, {
    method,
    ...(body !== undefined && {
      headers: { "Content-Type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: response.status === 204 ? null : await json(response),
  };
}

/** Returns the paths of the fields that a 422 response names. */
export function fieldsOf(response: {
  status: number;
  body: { error?: { details?: { fields: { path: string }[] } } };
}) {
  if (response.status !== 422)
    throw new Error(`Expected 422, got ${response.status} ${JSON.stringify(response.body)}`);
  return (response.body.error?.details?.fields ?? []).map(({ path }) => path).toSorted();
}

export function bodiesOf({ calls }: TestReceiver): DeliveredBody[] {
  return calls.map(({ body }) => JSON.parse(body));
}

/** Verifies the chain in all deliveries that a receiver got, in their order. */
export function proven(receiver: TestReceiver, after = START): ProvingReceiver {
  const proving = new ProvingReceiver(after);
  for (const body of bodiesOf(receiver)) proving.take(body);
  return proving;
}
