import { endsWithin, Loop, systemClock } from "../../async/index.ts";
import { ConfigError } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Certificate, type CertificateFiles, readCertificate } from "./certificate.ts";
import { listen, webSocketHandler } from "./listen.ts";
import type { PortUse } from "./ports.ts";
import type { Listener } from "./service.ts";

/** The interval at which the certificate files are compared with the certificate in use. */
const CHECK_PAUSE_MS = 2_000;
/**
 * The time for which clients may keep connections with the old certificate. Each response on such a
 * connection has `Connection: close`.
 */
const RETIRE_MS = 3_000;
const FORCED_STOP_MS = 1_000;

interface PublicPortOptions<Socket> {
  listener: Listener<Socket>;
  use: PortUse;
  /** The certificate files for TLS, reloaded when they change. Null means plain HTTP. */
  files: CertificateFiles | null;
  log: Logger;
}

/**
 * The port for a service's clients. The runtime cannot change the certificate of a listening server. After a
 * renewal, a second server on the same port therefore serves the new certificate. The old server adds
 * `Connection: close` to each response. It stops a few seconds later, when its requests in flight have ended.
 */
export class PublicPort<Socket> {
  readonly port: number;
  readonly #options: PublicPortOptions<Socket>;
  /** The servers that still have connections. The last server serves the current certificate. */
  readonly #servers: Bun.Server<Socket>[] = [];
  /** The loop that checks the certificate files; undefined without TLS. */
  readonly #renewal: Loop | undefined;
  #certificate: Certificate | undefined;
  /** The problem of the latest certificate files, so that each problem is logged once. */
  #problem = "";

  constructor(options: PublicPortOptions<Socket>) {
    const { files, use } = options;
    this.#options = options;
    this.#certificate = files === null ? undefined : readValid(files);
    this.port = this.#open(use);
    if (files === null) return;
    this.#renewal = new Loop({
      task: async () => this.#renew(files),
      pauseMs: CHECK_PAUSE_MS,
      retryMs: CHECK_PAUSE_MS,
      onFailure: (error) => this.#tell(error),
    });
    this.#renewal.start(CHECK_PAUSE_MS);
  }

  /**
   * Stops accepting connections and waits for requests in flight. At the timeout, closes the remaining
   * connections.
   */
  async stop(timeoutMs: number): Promise<void> {
    await this.#renewal?.stop();
    await readWhatCame();
    await endsWithin(Promise.all(this.#servers.map((server) => server.stop())), timeoutMs);
    await endsWithin(Promise.all(this.#servers.map((server) => server.stop(true))), FORCED_STOP_MS);
  }

  #open(use: PortUse): number {
    const server = listen(this.#options.listener, use, this.#certificate);
    if (server.port === undefined) throw new Error("The server is not bound to a TCP port.");
    this.#servers.push(server);
    return server.port;
  }

  /**
   * Reloads the certificate files if they have changed. Throws if the files are half written or do not match;
   * the loop retries.
   */
  #renew(files: CertificateFiles): void {
    const found = readValid(files);
    this.#problem = "";
    if (found.cert === this.#certificate?.cert && found.key === this.#certificate.key) return;
    const old = this.#servers.at(-1);
    this.#certificate = found;
    this.#open({ ...this.#options.use, port: this.port });
    if (old !== undefined) this.#retire(old);
    this.#options.log.info({ certificate_expires_at: found.expires_at.toISOString() }, "certificate renewed");
  }

  #tell(error: unknown): void {
    const problem = String(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.log.warn(
      { err: error },
      "the process cannot use the files of TLS_CERT_FILE and keeps the last certificate",
    );
  }

  #retire(server: Bun.Server<Socket>): void {
    const { listener } = this.#options;
    server.reload({
      fetch: async (request, self) => closing(await listener.fetch(request, self)),
      websocket: webSocketHandler(listener),
    });
    const forget = () => this.#servers.splice(this.#servers.indexOf(server), 1);
    const retire = () =>
      readWhatCame()
        .then(() => server.stop())
        .then(forget, forget);
    systemClock.after(RETIRE_MS, retire);
  }
}

/**
 * Waits until the event loop is quiet, so that clients that have already sent a request get a response. When
 * a port closes, the runtime drops unread data on connections without a request, and the system resets
 * connections that are not accepted yet. If the loop stays busy, the wait ends after `WAIT_MS` and at least
 * `ITERATIONS_MIN` iterations.
 */
export async function readWhatCame(): Promise<void> {
  const beganMs = systemClock.elapsedMs();
  let iterations = 0;
  let quiet = 0;
  for (
    let nowMs = beganMs;
    quiet < QUIET_ITERATIONS && !isOver(iterations, nowMs - beganMs);
    iterations += 1
  ) {
    await new Promise((resolve) => setImmediate(resolve));
    const iterationMs = systemClock.elapsedMs() - nowMs;
    nowMs += iterationMs;
    quiet = iterationMs < QUIET_ITERATION_MS ? quiet + 1 : 0;
  }
}

/**
 * The longest event-loop iteration that counts as quiet. An iteration with nothing to read takes about a
 * twentieth of this time.
 */
const QUIET_ITERATION_MS = 0.15;
/**
 * The number of consecutive quiet event-loop iterations to wait for. One is not enough: some iterations do
 * not poll for I/O, and the first can be the remainder of the current iteration.
 */
const QUIET_ITERATIONS = 4;
const ITERATIONS_MIN = 4;
const WAIT_MS = 250;

function isOver(iterations: number, waitedMs: number): boolean {
  return iterations >= ITERATIONS_MIN && waitedMs >= WAIT_MS;
}

function readValid(files: CertificateFiles): Certificate {
  const read = readCertificate(files);
  if ("message" in read) throw new ConfigError([read]);
  return read;
}

function closing(response: Response | undefined): Response | undefined {
  response?.headers.set("Connection", "close");
  return response;
}
