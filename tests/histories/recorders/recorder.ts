import type { System } from "../../faults/system/system.ts";
import type { Random } from "../../support/random.ts";
import type { Verdict } from "../checker/check.ts";
import type { Directory } from "./directory.ts";

/** The system, and the tools that recorders share. */
export interface Field {
  readonly system: System;
  readonly directory: Directory;
  readonly random: Random;
  /** Whether a faulty client stands between, so that its history must be found wrong. */
  readonly is_faulty: boolean;
}

/** A recorder of histories of one claim. */
export interface Recorder {
  readonly name: string;
  /** Lets concurrent clients use a new object for some steps, and judges their history. */
  record(field: Field): Promise<Verdict[]>;
}

/** Runs clients at once, each a number of steps. */
export async function together(
  clients: number,
  steps: number,
  step: (client: number) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let count = 0; count < steps; count += 1) await step(client);
    }),
  );
}
