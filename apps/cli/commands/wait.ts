import type { Propagation } from "@ostiary/lib/contracts/registry-api";
import { type Command, InvalidArgumentError, Option } from "commander";
import { Refused } from "../errors.ts";
import type { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";

const FLAG = "--wait";
const WAIT_MS_MAX = 30_000;
/** A wait that is over by then shows no progress. */
const PROGRESS_MS = 500;
const CLEAR_LINE = "\r\x1b[K";

/** What a command gets from {@link addWaitOption}. */
export interface WaitOptions {
  /** Milliseconds. */
  wait?: number;
}

/** `--wait[=MS]`, for a command that writes. */
export function addWaitOption(command: Command): Command {
  const description = `wait until every gateway serves it, for so many milliseconds at most (default ${WAIT_MS_MAX})`;
  return command.addOption(new Option(`${FLAG} [ms]`, description).argParser(waitArgument));
}

/** The value of the option is what stands behind `=`, never the word after it: that is a file. */
export function withDefaultWait(parameters: readonly string[]): string[] {
  return parameters.map((parameter) => (parameter === FLAG ? `${FLAG}=${WAIT_MS_MAX}` : parameter));
}

function waitArgument(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > WAIT_MS_MAX) {
    throw new InvalidArgumentError(`It is a whole number of milliseconds from 0 to ${WAIT_MS_MAX}.`);
  }
  return Number(text);
}

/** The query of a write whose answer waits; none where it does not. */
export function waitQuery({ wait }: WaitOptions): { query?: Record<string, string> } {
  return wait === undefined ? {} : { query: { wait_ms: String(wait) } };
}

/** Carries out a request that may wait, and shows on a terminal that it does. */
export async function withProgress<Answer>(
  terminal: Terminal,
  { wait }: WaitOptions,
  request: Promise<Answer>,
): Promise<Answer> {
  if (wait === undefined || !terminal.progress) return request;
  const started_ms = performance.now();
  const showing = setInterval(() => {
    const waited = seconds(performance.now() - started_ms);
    terminal.writeError(`${CLEAR_LINE}Waiting until every gateway serves it: ${waited} of ${seconds(wait)}`);
  }, PROGRESS_MS);
  try {
    return await request;
  } finally {
    clearInterval(showing);
    terminal.writeError(CLEAR_LINE);
  }
}

/**
 * Says how far a write has come.
 *
 * @throws Refused when not every gateway was reached
 */
export function reportPropagation(output: Output, propagation: Propagation | undefined): void {
  if (propagation === undefined) return;
  const { gateways, reached, waited_ms, projected } = propagation;
  const waited = seconds(waited_ms);
  if (!projected) {
    throw new Refused(
      `It is recorded, but after ${waited} the route store does not have it yet: gateways serve it once it has.`,
    );
  }
  if (reached < gateways) {
    throw new Refused(
      `It is recorded, but after ${waited} only ${reached} of ${gateways} gateways serve it: bun cli gateways tells which.`,
    );
  }
  output.note(
    gateways === 0
      ? "No gateway runs: whichever starts will serve it."
      : `Every gateway serves it: ${reached} of ${gateways}, after ${waited}.`,
  );
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
