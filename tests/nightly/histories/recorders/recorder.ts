import type { Random } from "../../../support/random.ts";
import type { Directory } from "../../faults/system/directory.ts";
import type { System } from "../../faults/system/system.ts";
import type { Verdict } from "../checker/check.ts";

/** The test bed that recorders share: the system, and helpers to call it. */
export interface Field {
  readonly system: System;
  readonly directory: Directory;
  readonly random: Random;
  /** Whether recorders must simulate a faulty client, whose history must not be linearizable. */
  readonly isFaulty: boolean;
}

export interface Recorder {
  readonly name: string;
  /** Lets concurrent clients use a new object for some steps, and checks their history. */
  record(field: Field): Promise<Verdict[]>;
}

/** Runs `clients` clients concurrently. Each client runs `steps` steps in sequence. */
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
