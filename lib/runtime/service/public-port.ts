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
 * The time for which clients may use connections with the old certificate. Each answer tells them to
 * reconnect.
 */
const RETIRE_MS = 3_000;
const FORCED_STOP_MS = 1_000;

interface PublicPortOptions<Socket> {
  listener: Listener<Socket>;
  use: PortUse;
  /** The files of the certificate for TLS, reloaded when they change. Null means plain HTTP. */
  files: CertificateFiles | null;
  log: Logger;
}

/**
 * The port for a service's clients. The runtime cannot change the certificate of a listening server, so a
 * second server on the same port serves a renewed certificate. The old server then adds `Connection: close`
 * to each answer, and stops some seconds later when its requests in flight have ended.
 */
export class PublicPort<Socket> {
  readonly port: number;
  readonly #options: PublicPortOptions<Socket>;
  /** The servers that still have connections. The last one serves the current certificate. */
  readonly #servers: Bun.Server<Socket>[] = [];
  /** The loop that checks the files, if there are any. */
  readonly #renewal: Loop | undefined;
  #certificate: Certificate | undefined;
  /** The problem of the last read, logged once. */
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

  /** Waits for requests in flight. Cuts the connections that are open at the timeout. */
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

  /** Reloads the files. Half-written files, or files that do not match, are read again after the pause. */
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
    setTimeout(retire, RETIRE_MS);
  }
}

/**
 * Waits until the event loop is quiet, so that clients that sent data in time get an answer. When a port
 * closes, the runtime drops unread data on connections without a request, and the system resets connections
 * that are not accepted yet. If the loop stays busy, the wait ends after `WAIT_MS` and at least `TURNS_MIN`
 * turns.
 */
export async function readWhatCame(): Promise<void> {
  const began_ms = systemClock.elapsed_ms();
  let turns = 0;
  let quiet_turns = 0;
  for (let now_ms = began_ms; quiet_turns < QUIET_TURNS && !isOver(turns, now_ms - began_ms); turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const turn_ms = systemClock.elapsed_ms() - now_ms;
    now_ms += turn_ms;
    quiet_turns = turn_ms < QUIET_TURN_MS ? quiet_turns + 1 : 0;
  }
}

/**
 * The longest turn of the event loop that counts as quiet. A turn with nothing to read takes a twentieth of
 * this.
 */
const QUIET_TURN_MS = 0.15;
/**
 * The number of quiet turns to wait for, one after the other. Some turns do not poll for data, and the first
 * can be the rest of the current turn.
 */
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
