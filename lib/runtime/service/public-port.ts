import { endsWithin, Loop } from "../../async/index.ts";
import { ConfigError } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Certificate, type CertificateFiles, readCertificate } from "./certificate.ts";
import { listen, webSocketHandler } from "./listen.ts";
import type { PortUse } from "./ports.ts";
import type { Listener } from "./service.ts";

/** How often the files are compared with what is served. */
const CHECK_PAUSE_MS = 2_000;
/** How long connections under an old certificate may still send requests, each told to connect anew. */
const RETIRE_MS = 3_000;
const FORCED_STOP_MS = 1_000;

export interface PublicPortOptions<Socket> {
  listener: Listener<Socket>;
  use: PortUse;
  /** Serves by TLS with the certificate in these files, as they change. Null: plain HTTP. */
  files: CertificateFiles | null;
  log: Logger;
}

/**
 * The port that a service's clients use. The runtime can not change the certificate of a server that listens, so a
 * renewed one is served by a second server on the same port. The first one then asks its clients to connect anew,
 * by `Connection: close` in each answer, and stops some seconds later; what is under way by then goes on.
 */
export class PublicPort<Socket> {
  readonly port: number;
  readonly #options: PublicPortOptions<Socket>;
  /** Those that still have connections; the last one serves the certificate of today. */
  readonly #servers: Bun.Server<Socket>[] = [];
  /** Looks at the files, where there are any. */
  readonly #renewal: Loop | undefined;
  #certificate: Certificate | undefined;
  /** What was wrong when the files were last read, told once. */
  #problem = "";

  constructor(options: PublicPortOptions<Socket>) {
    const { files, use } = options;
    this.#options = options;
    this.#certificate = files === null ? undefined : readValid(files);
    this.port = this.#open(use);
    if (files === null) return;
    this.#renewal = new Loop({
      task: async () => this.#renew(files),
      pause_ms: CHECK_PAUSE_MS,
      retry_ms: CHECK_PAUSE_MS,
      onFailure: (error) => this.#tell(error),
    });
    this.#renewal.start(CHECK_PAUSE_MS);
  }

  /** Lets requests in flight finish; what is still open at the deadline is cut. */
  async stop(timeout_ms: number): Promise<void> {
    await this.#renewal?.stop();
    await readWhatCame();
    await endsWithin(Promise.all(this.#servers.map((server) => server.stop())), timeout_ms);
    await endsWithin(Promise.all(this.#servers.map((server) => server.stop(true))), FORCED_STOP_MS);
  }

  #open(use: PortUse): number {
    const server = listen(this.#options.listener, use, this.#certificate);
    if (server.port === undefined) throw new Error("The server is not bound to a TCP port.");
    this.#servers.push(server);
    return server.port;
  }

  /** Files that are half written, or do not belong together, are looked at again after the pause. */
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
      "the files of TLS_CERT_FILE can not be served: the last one stays",
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
    setTimeout(retire, RETIRE_MS);
  }
}

/**
 * Lets the runtime read what is here already, and comes back in a moment in which nothing more is. When a port is
 * closed, the runtime drops what comes on connections without a request, and the system resets those that are not
 * accepted yet: whoever sent something in time gets no answer. A process that had no processor for a while finds a lot.
 * One that is never quiet is not waited for, once it has read what was here at first.
 */
export async function readWhatCame(): Promise<void> {
  const began_ms = performance.now();
  let turns = 0;
  let quiet_turns = 0;
  for (let now_ms = began_ms; quiet_turns < QUIET_TURNS && !isOver(turns, now_ms - began_ms); turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const turn_ms = performance.now() - now_ms;
    now_ms += turn_ms;
    quiet_turns = turn_ms < QUIET_TURN_MS ? quiet_turns + 1 : 0;
  }
}

/** A turn of the event loop in which nothing was there to be read takes a twentieth of this. */
const QUIET_TURN_MS = 0.15;
/** Not every turn looks for what has come, and the first may be the end of the one that runs. */
const QUIET_TURNS = 4;
const TURNS_MIN = 4;
const WAIT_MS = 250;

function isOver(turns: number, waited_ms: number): boolean {
  return turns >= TURNS_MIN && waited_ms >= WAIT_MS;
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
