import type { Propagation, RegistryRequest } from "@ostiary/lib/contracts/registry-api";
import type { Static, TSchema } from "@sinclair/typebox";
import { type Command, InvalidArgumentError, Option } from "commander";
import { Refused } from "../exit-codes.ts";
import type { CommandContext } from "./command.ts";

const FLAG = "--wait";
const WAIT_MS_MAX = 30_000;
/** The interval of the progress display. A wait that is shorter than the interval shows no progress. */
const PROGRESS_MS = 500;
const CLEAR_LINE = "\r\x1b[K";

/** The options that {@link addWaitOption} adds. */
export interface WaitOptions {
  /** The longest wait, in milliseconds. */
  wait?: number;
}

/** Adds `--wait[=MS]` to a command that writes. */
export function addWaitOption(command: Command): Command {
  const description = `wait until every gateway has the change, for at most this many milliseconds (default ${WAIT_MS_MAX})`;
  return command.addOption(new Option(`${FLAG} [ms]`, description).argParser(waitArgument));
}

/**
 * Adds the default value to a bare `--wait`. A value must follow `=`, because the word after a bare `--wait` can be
 * the file.
 */
export function withDefaultWait(parameters: readonly string[]): string[] {
  return parameters.map((parameter) => (parameter === FLAG ? `${FLAG}=${WAIT_MS_MAX}` : parameter));
}

function waitArgument(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > WAIT_MS_MAX) {
    throw new InvalidArgumentError(`Give a whole number of milliseconds from 0 to ${WAIT_MS_MAX}.`);
  }
  return Number(text);
}

interface Write<Schema extends TSchema> extends RegistryRequest {
  schema: Schema;
  path: string;
}

/** Sends a write. If the write waits, shows the progress of the wait on a terminal. */
export async function sendWrite<Schema extends TSchema>(
  { registry, terminal }: CommandContext,
  { schema, path, ...request }: Write<Schema>,
  { wait }: WaitOptions,
): Promise<Static<Schema>> {
  const query = wait === undefined ? {} : { query: { wait_ms: String(wait) } };
  const sent = registry.call(schema, path, { ...request, ...query });
  if (wait === undefined || !terminal.progress) return sent;
  const startedMs = performance.now();
  const showing = setInterval(() => {
    const waited = seconds(performance.now() - startedMs);
    terminal.writeError(
      `${CLEAR_LINE}Waiting until every gateway has the change: ${waited} of ${seconds(wait)}`,
    );
  }, PROGRESS_MS);
  try {
    return await sent;
  } finally {
    clearInterval(showing);
    terminal.writeError(CLEAR_LINE);
  }
}

/**
 * Reports the number of gateways that the write has reached.
 * @throws Refused when the write has not reached every gateway
 */
export function reportPropagation(
  { output, programName }: CommandContext,
  propagation: Propagation | undefined,
): void {
  if (propagation === undefined) return;
  const { gateways, reached, waited_ms, projected } = propagation;
  const waited = seconds(waited_ms);
  if (!projected) {
    throw new Refused(
      `The write is recorded, but after ${waited} the route store does not have the change yet: gateways follow once it has.`,
    );
  }
  if (reached < gateways) {
    throw new Refused(
      `The write is recorded, but after ${waited} only ${reached} of ${gateways} gateways have the change: ${programName} gateways lists all gateways.`,
    );
  }
  output.note(
    gateways === 0
      ? `No gateway is running: the next one to start will have the change.`
      : `Every gateway has the change: ${reached} of ${gateways} gateways, after ${waited}.`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
