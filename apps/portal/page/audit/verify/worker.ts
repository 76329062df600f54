/** The worker that verifies a log. It streams the export, so that the whole file is never in memory. */

import { proofEndSchema } from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { parseJson, tryJson } from "@ostiary/lib/domain/json";
import { failureOf } from "@ostiary/lib/page/failure";
import {
  type KeptRoot,
  linesOf,
  NotLines,
  readKeptRoot,
  readWitnessKeys,
  verifyExport,
  type WitnessRule,
} from "@ostiary/lib/verification";
import type { WitnessSettings } from "../../settings.ts";
import type { KeptCopy, Verification, VerifyRequest } from "./messages.ts";

declare const self: {
  onmessage: (event: MessageEvent<VerifyRequest>) => void;
  postMessage(message: Verification): void;
};

const PROGRESS_MS = 200;
const UNPROCESSABLE = 422;

self.onmessage = async ({ data }: MessageEvent<VerifyRequest>) => {
  self.postMessage(await verify(data).catch(() => ({ state: "failed", reason: "broken" }) as const));
};

async function verify(request: VerifyRequest): Promise<Verification> {
  const { owner, kept, witnesses } = request;
  const root = kept === null ? null : await readCopy(kept);
  if (kept !== null && root === null) return { state: "failed", reason: "kept" };
  const response = await exportOf(request, root).catch(() => null);
  if (response?.body == null) return { state: "failed", reason: "unavailable" };
  if (!response.ok) {
    const body = tryJson(await response.text().catch(() => ""));
    return { state: "refused", failure: failureOf(response, body, false).failure };
  }
  const log = new StreamedLog(response.body);
  try {
    const roots = root === null ? [] : [root];
    const origin = witnesses?.origin ?? null;
    const given = { owner, keys: null, roots, origin, witnesses: ruleOf(witnesses) };
    const verdict = await verifyExport(log.lines(), given, (events) => log.show(events));
    return { state: "done", verdict, copy: copyOf(log.last) };
  } catch (error) {
    if (error instanceof NotLines) return { state: "failed", reason: "broken" };
    return { state: "failed", reason: log.whole ? "broken" : "unavailable" };
  }
}

/** Fetches the export, with the proof about the kept root. A log refuses a root that it does not have yet. */
async function exportOf({ exportUrl, headers }: VerifyRequest, root: KeptRoot | null): Promise<Response> {
  const init = { headers, cache: "no-store", redirect: "error" } as const;
  const size = root?.head.size ?? 0;
  if (size === 0) return fetch(exportUrl, init);
  const response = await fetch(`${exportUrl}&root=${size}`, init);
  return response.status === UNPROCESSABLE ? fetch(exportUrl, init) : response;
}

function ruleOf(witnesses: WitnessSettings | null): WitnessRule | null {
  if (witnesses === null) return null;
  const { keys, quorum } = witnesses;
  return { keys: readWitnessKeys(keys.join("\n")), quorum, nowMs: Date.now() };
}

class StreamedLog {
  last = "";
  whole = false;
  readonly #body: ReadableStream<Uint8Array>;
  #bytes = 0;
  #shownAt = 0;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#body = body;
  }

  async *lines(): AsyncGenerator<string, void, void> {
    for await (const line of linesOf(this.#chunks())) {
      this.last = line;
      yield line;
    }
  }

  show(events: number): void {
    const now = performance.now();
    if (now - this.#shownAt < PROGRESS_MS) return;
    this.#shownAt = now;
    self.postMessage({ state: "running", events, bytes: this.#bytes });
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of chunksOf(this.#body)) {
      this.#bytes += chunk.length;
      yield chunk;
    }
    this.whole = true;
  }
}

async function readCopy(kept: Blob): Promise<KeptRoot | null> {
  try {
    return await readKeptRoot("", chunksOf(kept.stream()));
  } catch (error) {
    if (error instanceof NotLines) return null;
    throw error;
  }
}

/** Yields the chunks of a stream through a reader, because some browsers cannot iterate over a stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Returns the signed root of an export, or null if the last line has none. */
function copyOf(last: string): KeptCopy | null {
  const end = tryJson(last, parseJson);
  if (!fits(proofEndSchema, end) || end.note === null || end.leaf === null) return null;
  return { size: end.leaf.number + 1, text: end.note };
}
