import { Random } from "../../support/random.ts";
import { type Progress, System } from "../faults/system/system.ts";
import type { Verdict } from "./checker/check.ts";
import { disturb } from "./disturb.ts";
import { RECORDERS } from "./recorders/index.ts";
import { publishLimited } from "./recorders/limits.ts";
import type { Field } from "./recorders/recorder.ts";

/** Starts the system, and passes it to `work`. Stops it afterwards, even after an error. */
export async function withField<T>(
  progress: Progress,
  seed: number,
  work: (field: Field) => Promise<T>,
): Promise<T> {
  await using system = await System.start(progress);
  await publishLimited(system);
  const random = new Random(seed);
  return await work({ system, random, directory: system.directory(random), isFaulty: false });
}

/** Records and checks histories of all models for `ms` milliseconds, while processes are disturbed in sequence. */
export async function runHistories(
  field: Field,
  seed: number,
  ms: number,
  progress: Progress,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let isOver = false;
  const recording = RECORDERS.map(async (recorder) => {
    do {
      const found = await recorder.record(field);
      verdicts.push(...found);
      for (const wrong of found.filter(({ result }) => result !== "linearizable")) {
        progress(`${wrong.model} ${wrong.key}: ${wrong.result}`);
      }
    } while (!isOver);
  });
  const random = new Random(seed + 1);
  const untilMs = performance.now() + ms;
  const disturbing = async () => {
    while (performance.now() < untilMs) {
      const { part, way } = await disturb(field.system, random);
      progress(`${part} ${way}; ${verdicts.length} histories checked so far`);
    }
  };
  try {
    await Promise.race([disturbing(), Promise.all(recording)]);
  } finally {
    isOver = true;
  }
  await Promise.all(recording);
  return verdicts;
}

/**
 * Lets each recorder simulate a faulty client, without disturbances. Returns the names of the recorders whose
 * model does not notice the faulty client.
 */
export async function unnoticedFaultyClients(field: Field): Promise<string[]> {
  const found = await Promise.all(
    RECORDERS.map(async (recorder) => ({
      name: recorder.name,
      verdicts: await recorder.record({ ...field, isFaulty: true }),
    })),
  );
  return found.flatMap(({ name, verdicts }) =>
    verdicts.some(({ result }) => result === "not linearizable") ? [] : [name],
  );
}
