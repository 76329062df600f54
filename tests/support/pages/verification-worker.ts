/** A web worker that verifies each audit log export that its page posts, and posts the result. */
import type { SigningJwk } from "@ostiary/lib/domain/proof";
import {
  inEnglish,
  type KeptCopies,
  readKept,
  readWitnessKeys,
  verifyExport,
  type WitnessRule,
} from "@ostiary/lib/verification";

declare const self: Worker;

interface Question {
  lines: string[];
  keys: SigningJwk[] | null;
  kept: string[] | null;
  witnesses?: { keys: string[]; quorum: number; now: string } | null;
}

const NOTHING: KeptCopies = { checkpoints: [], end: null };

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  const kept = data.kept === null ? NOTHING : await readKept(new Blob(data.kept.map((line) => `${line}\n`)));
  const verdict = await verifyExport(linesOf(data.lines), { keys: data.keys, kept, witnesses: ruleOf(data) });
  self.postMessage(JSON.stringify(inEnglish(verdict)));
};

function ruleOf({ witnesses }: Question): WitnessRule | null {
  if (witnesses == null) return null;
  const { keys, quorum, now } = witnesses;
  return { keys: readWitnessKeys(keys.join("\n")), quorum, nowMs: Date.parse(now) };
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string, void, void> {
  yield* lines;
}
