import type { SigningJwk } from "@ostiary/lib/domain/proof";
import { type KeptCopies, readKept, spoken, verifyExport } from "@ostiary/lib/verification";

/** Runs in a browser's worker: verifies each export that the page sends, and answers with the result. */

declare const self: Worker;

interface Question {
  lines: string[];
  keys: SigningJwk[] | null;
  kept: string[] | null;
}

const NOTHING: KeptCopies = { checkpoints: [], end: null };

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  const kept = data.kept === null ? NOTHING : await readKept(new Blob(data.kept.map((line) => `${line}\n`)));
  const verdict = await verifyExport(linesOf(data.lines), data.keys, kept);
  self.postMessage(JSON.stringify(spoken(verdict)));
};

async function* linesOf(lines: readonly string[]): AsyncGenerator<string, void, void> {
  yield* lines;
}
