/** The worker that verifies a log. It streams the export, so that the whole file is never in memory. */

import { proofEndSchema } from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { parseJson, tryJson } from "@ostiary/lib/domain/json";
import { Checkpoint, canonicalJson, SigningJwk } from "@ostiary/lib/domain/proof";
import {
  type KeptCopies,
  linesOf,
  NotKeptCopies,
  NotLines,
  readKept,
  readWitnessKeys,
  verifyExport,
  type WitnessRule,
} from "@ostiary/lib/verification";
import { Type } from "@sinclair/typebox";
import type { WitnessSettings } from "../../settings.ts";
import type { KeptCopy, VerifyRequest, WorkerMessage } from "./messages.ts";

declare const self: {
  onmessage: (event: MessageEvent<VerifyRequest>) => void;
  postMessage(message: WorkerMessage): void;
};

const NOTHING_KEPT: KeptCopies = { checkpoints: [], end: null };
const PROGRESS_MS = 200;
/** The worker stops fetching pages of checkpoints when it has this many checkpoints. */
const CHECKPOINTS_MAX = 5_000;
const PAGE_SIZE = 100;

self.onmessage = async ({ data }: MessageEvent<VerifyRequest>) => {
  tell(await verify(data).catch(() => ({ type: "failed", reason: "broken" }) as const));
};

function tell(message: WorkerMessage): void {
  self.postMessage(message);
}

async function verify({ exportUrl, headers, kept, witnesses }: VerifyRequest): Promise<WorkerMessage> {
  const read = await readCopies(kept);
  if (read === null) return { type: "failed", reason: "kept" };
  // Fetch the checkpoints before the export, so that no checkpoint is newer than the export.
  const copies = await withCheckpoints(read, exportUrl);
  const keys = await publishedKeys(exportUrl);
  const answer = await fetch(exportUrl, { headers, cache: "no-store", redirect: "error" }).catch(() => null);
  if (answer?.body == null) return { type: "failed", reason: "away" };
  if (!answer.ok) return refused(answer);
  const log = new StreamedLog(answer.body);
  try {
    const given = { keys, kept: copies, witnesses: ruleOf(witnesses) };
    const verdict = await verifyExport(log.lines(), given, (events) => log.show(events));
    return { type: "verdict", verdict, copy: copyOf(log.last) };
  } catch (error) {
    if (error instanceof NotLines) return { type: "failed", reason: "broken" };
    return { type: "failed", reason: log.whole ? "broken" : "away" };
  }
}

function ruleOf(witnesses: WitnessSettings | null): WitnessRule | null {
  if (witnesses === null) return null;
  const { keys, quorum, origin } = witnesses;
  return { keys: readWitnessKeys(keys.join("\n")), quorum, origin, nowMs: Date.now() };
}

/** The lines of an export, read as they arrive. */
class StreamedLog {
  /** The last line read so far. */
  last = "";
  /** Whether the download was complete. */
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
    tell({ type: "progress", events, bytes: this.#bytes });
  }

  /** Yields the bytes through a reader, because some browsers cannot iterate over a stream. */
  async *#chunks(): AsyncGenerator<Uint8Array, void, void> {
    const reader = this.#body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      this.#bytes += value.length;
      yield value;
    }
    this.whole = true;
  }
}

async function refused(answer: Response): Promise<WorkerMessage> {
  return {
    type: "refused",
    status: answer.status,
    body: await answer.text().catch(() => ""),
    retryAfter: answer.headers.get("Retry-After"),
  };
}

/** Reads the earlier copy that the customer chose. Returns null if the file contains no part of a log. */
async function readCopies(kept: Blob | null): Promise<KeptCopies | null> {
  if (kept === null) return NOTHING_KEPT;
  try {
    const { size } = kept;
    return await readKept({ size, text: () => kept.text(), stream: () => chunksOf(kept) });
  } catch (error) {
    if (error instanceof NotKeptCopies || error instanceof NotLines) return null;
    throw error;
  }
}

async function* chunksOf(kept: Blob): AsyncGenerator<Uint8Array, void, void> {
  const size = 1024 * 1024;
  for (let from = 0; from < kept.size; from += size) {
    yield new Uint8Array(await kept.slice(from, from + size).arrayBuffer());
  }
}

const keySet = Type.Object({ keys: Type.Array(SigningJwk) });

/**
 * Fetches the published keys of the log. Returns null if the keys cannot be read. The verifier then uses the
 * keys in the export.
 */
async function publishedKeys(exportUrl: string): Promise<SigningJwk[] | null> {
  const value = await publicJson(new URL("/.well-known/audit-jwks.json", exportUrl));
  return fits(keySet, value) ? value.keys : null;
}

const checkpointPage = Type.Object({ audit_checkpoints: Type.Array(Checkpoint), has_more: Type.Boolean() });

/** Adds the published checkpoints that are newer than the oldest checkpoint of the copies. */
async function withCheckpoints(copies: KeptCopies, exportUrl: string): Promise<KeptCopies> {
  if (copies.checkpoints.length === 0) return copies;
  const until = Math.min(...copies.checkpoints.map(({ number }) => number));
  const between: Checkpoint[] = [];
  for (let after: number | null = null; between.length < CHECKPOINTS_MAX; ) {
    const url = new URL("/audit-checkpoints", exportUrl);
    url.searchParams.set("limit", String(PAGE_SIZE));
    if (after !== null) url.searchParams.set("starting_after", String(after));
    const page = await publicJson(url);
    if (!fits(checkpointPage, page)) break;
    between.push(...page.audit_checkpoints.filter(({ number }) => number > until));
    after = page.audit_checkpoints.at(-1)?.number ?? null;
    if (!page.has_more || after === null || after <= until + 1) break;
  }
  return { ...copies, checkpoints: [...copies.checkpoints, ...between] };
}

async function publicJson(url: URL): Promise<unknown> {
  try {
    const answer = await fetch(url, { credentials: "omit", redirect: "error" });
    return answer.ok ? tryJson(await answer.text(), parseJson) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the end of an export as a file to keep, which the command line accepts as `--checkpoint`. Returns
 * null if the last line is not the end of a proof with a checkpoint.
 */
function copyOf(last: string): KeptCopy | null {
  const end = tryJson(last, parseJson);
  if (!fits(proofEndSchema, end) || end.checkpoint === null) return null;
  const { retention: _retention, ...rest } = end;
  return { number: end.checkpoint.number, text: `${canonicalJson({ ...rest, recent_checkpoints: [] })}\n` };
}
