import { markdownTable } from "../report.ts";
import {
  connectionGrowthOf,
  type Growth,
  growthOf,
  type Held,
  HOLDING_TITLES,
  LOOKS_MIN,
  POOLS,
} from "./flatness.ts";

type Looks = ReadonlyMap<string, readonly Held[]>;

/**
 * Returns a table with a row for each process: its resources in the first and in the last third of the run.
 */
export function soakTable(looks: Looks): string {
  const rows = [...looks].map(([name, held]) => [
    name,
    String(held.length),
    ...(held.length < LOOKS_MIN
      ? HOLDING_TITLES.map(() => "too few readings")
      : growthOf(held).map(growthText)),
  ]);
  return markdownTable(["Process", "readings", ...HOLDING_TITLES], rows);
}

/**
 * Returns a table with a row for each process and peer: the connections in the first and last third of the
 * run.
 */
export function connectionTable(looks: Looks): string {
  const rows = [...looks].flatMap(([name, held]) =>
    connectionsIn(held).map((growth) => [name, growth.title, growthText(growth)]),
  );
  return markdownTable(["Process", "connections with", "open"], rows);
}

/** Returns a line for each resource that grew beyond its bound. */
export function whatGrew(looks: Looks): string[] {
  return [...looks].flatMap(([name, held]) => [
    ...grown(growthOf(held)).map((growth) => `${name}: ${growth.title} ${growthText(growth)}`),
    ...grown(connectionsIn(held)).map(
      (growth) => `${name}: connections with ${growth.title} ${growthText(growth)}`,
    ),
  ]);
}

function connectionsIn(held: readonly Held[]): Growth[] {
  return connectionGrowthOf(
    held.map(({ connections }) => connections),
    POOLS,
  );
}

function grown(growths: readonly Growth[]): Growth[] {
  return growths.filter(({ isFlat }) => !isFlat);
}

function growthText({ first, last }: Growth): string {
  return `${first} → ${last}`;
}
