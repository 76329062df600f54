import { join } from "node:path";
import type { SigningJwk } from "@ostiary/lib/domain/proof";
import type { Verdict } from "@ostiary/lib/verification";
import type { WitnessVector } from "../../../app/audit/proof-bed.ts";

export const VECTORS = join(import.meta.dir, "vectors.json");
export const WITNESS_VECTORS = join(import.meta.dir, "witness-vectors.json");

/** An export, which may have been tampered with, and its expected verdict. */
export interface ExportVector {
  title: string;
  result: Verdict["result"];
  /** The keys that the reader trusts; null if the reader trusts the keys in the file. */
  keys: SigningJwk[] | null;
  kept: string[] | null;
  /** The witnesses that the reader trusts; absent or null if the reader names none. */
  witnesses?: WitnessVector | null;
  lines: string[];
}

export const vectors = await Bun.file(VECTORS).json();
export const exportVectors: ExportVector[] = [
  ...vectors.exports,
  ...(await Bun.file(WITNESS_VECTORS).json()).exports,
];

/** Returns lines as the text of a file. */
export const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
