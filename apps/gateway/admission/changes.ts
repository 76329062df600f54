import { type Clock, Loop } from "@ostiary/lib/async";
import { ADMISSION_CHANGES_MAX, AdmissionChanges } from "@ostiary/lib/contracts/admission";
import { internalCallHeaders } from "@ostiary/lib/contracts/internal-api";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { tryJson } from "@ostiary/lib/domain/json";
import { boundedCall, type CallHandle } from "@ostiary/lib/runtime/bounded-call";
import { peerTls } from "@ostiary/lib/runtime/config";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { peerClient } from "../upstream/peer-client.ts";
import type { ChangeMemory } from "./change-memory.ts";
import type { AdmissionConfig } from "./config.ts";

/**
 * The longest wait of one call. A call over a dead connection ends soon, so that a revocation is seen in two seconds.
 */
const WAIT_MS_MAX = 500;
/** The time for the response, beyond the wait. Two responses, the first without a change, fit into two seconds. */
const RESPONSE_MS = 750;
/** The pause after a response, so that many changes come in few responses. */
const GAP_MS = 100;
const RETRY_MS = 50;
/**
 * The number of full responses after which the gateway drops everything, because the rest would take too long to read.
 */
const RESPONSES_MAX = 10;

interface ReaderOptions {
  readonly config: Pick<
    AdmissionConfig,
    | "ADMISSION_CHANGES_WAIT_MS"
    | "CREDENTIAL_VALIDATE_URL"
    | "INTERNAL_AUTH_TOKEN"
    | `CREDENTIAL_VALIDATE_${"CA" | "CERT" | "KEY"}_FILE`
  >;
  readonly memory: ChangeMemory;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly clock: Clock;
}

const check = TypeCompiler.Compile(AdmissionChanges);

/**
 * Notes the admissions that identity reports as changed, whose cached results are then void (GW-221). While identity
 * cannot be reached, cached results count until they expire, and the first response after that names all that has
 * changed.
 */
export class AdmissionChangesReader {
  readonly #options: ReaderOptions;
  readonly #transport;
  readonly #tls;
  readonly #loop: Loop;
  readonly #pollMs: number;
  #after: string | null = null;
  /** When the last call with a response began; before the first response, when this reader was created. */
  #knownMs: number;
  #isFailing = false;
  #call: CallHandle = { underway: null };

  constructor(options: ReaderOptions) {
    this.#options = options;
    const { config, clock } = options;
    this.#transport = peerClient(config.CREDENTIAL_VALIDATE_URL);
    this.#tls = peerTls(config, "CREDENTIAL_VALIDATE");
    this.#pollMs = Math.min(config.ADMISSION_CHANGES_WAIT_MS, WAIT_MS_MAX);
    this.#knownMs = clock.elapsedMs();
    this.#loop = new Loop({
      task: (stopping) => this.#read(stopping),
      pauseMs: GAP_MS,
      retryMs: RETRY_MS,
      onFailure: (error) => this.#failed(error),
      clock,
    });
  }

  /** Starts to read changes, unless `ADMISSION_CHANGES_WAIT_MS` is 0. */
  start(): void {
    if (this.#pollMs > 0) this.#loop.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#loop.stop();
    this.#call.underway?.abort();
    await stopped;
    this.#transport.close();
  }

  /** Returns how long ago identity was asked for the newest response, in milliseconds; null if changes are not read. */
  ageMs(): number | null {
    if (this.#pollMs === 0) return null;
    return this.#options.clock.elapsedMs() - this.#knownMs;
  }

  async #read(stopping: () => boolean): Promise<void> {
    let isWhole = false;
    for (let responses = 1; !isWhole && !stopping(); responses += 1) {
      const startedMs = this.#options.clock.elapsedMs();
      const response = await this.#requestChanges();
      this.#take(response);
      this.#after = response.next;
      this.#knownMs = startedMs;
      isWhole = "reset" in response || response.changes.length < ADMISSION_CHANGES_MAX;
      if (!isWhole && responses === RESPONSES_MAX) this.#after = null;
    }
    if (this.#isFailing) this.#options.log.info({}, "the gateway reads changes of admissions again");
    this.#isFailing = false;
  }

  async #requestChanges(): Promise<AdmissionChanges> {
    const { config } = this.#options;
    const call = {
      method: "GET",
      url: changesUrl(config.CREDENTIAL_VALIDATE_URL, this.#after, this.#pollMs),
      headers: internalCallHeaders(config.INTERNAL_AUTH_TOKEN),
      timeoutMs: this.#pollMs + RESPONSE_MS,
      repeatable: true,
      tls: this.#tls,
    } as const;
    const { status, text } = await boundedCall(call, {
      send: (request, handle, isRepeat) => {
        this.#call = handle;
        return this.#transport.send(request, handle, isRepeat);
      },
    });
    // An identity of another version may refuse the cursor.
    if (status === 422) this.#after = null;
    if (status !== 200) throw new Error(`identity responded with ${status}`);
    const response = tryJson(text);
    if (!check.Check(response)) throw new Error("identity sent a body that does not match the schema");
    return response;
  }

  /** Notes what a response makes void: everything if it is the first one, or a reset. */
  #take(response: AdmissionChanges): void {
    const { memory } = this.#options;
    if (this.#after === null || "reset" in response) memory.addAll();
    else if (response.changes.length > 0) memory.add(response.changes);
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) {
      this.#options.log.warn(
        { reason: reasonOf(error) },
        "the gateway cannot read changes of admissions: a revoked key can be accepted until its cached result expires",
      );
    }
    this.#isFailing = true;
  }
}

/** Returns the URL of identity's changes, which stands beside that of its validation. */
function changesUrl(validate: string, after: string | null, pollMs: number): string {
  const url = new URL("../admission-changes", validate);
  if (after !== null) url.search = new URLSearchParams({ after, wait_ms: String(pollMs) }).toString();
  return url.href;
}
