import { markdownTable } from "../report.ts";
import { type Growth, growthOf, type Held, HOLDINGS, type Holding, LOOKS_MIN } from "./flatness.ts";

const MIB = 1_048_576;

const TITLES: Readonly<Record<Holding, string>> = {
  resident_bytes: "memory, MiB",
  heap_bytes: "heap, MiB",
  descriptors: "descriptors",
  timers: "timers",
};

/** A row for each process: what it held in the first third of the time, and in the last. */
export function soakTable(looks: ReadonlyMap<string, readonly Held[]>): string {
  const rows = [...looks].map(([name, held]) => [
    name,
    String(held.length),
    ...(held.length < LOOKS_MIN ? HOLDINGS.map(() => "too few looks") : growthOf(held).map(growthText)),
  ]);
  return markdownTable(["Process", "looks", ...HOLDINGS.map((holding) => TITLES[holding])], rows);
}

/** What grew; empty when all was flat. */
export function whatGrew(looks: ReadonlyMap<string, readonly Held[]>): string[] {
  return [...looks].flatMap(([name, held]) =>
    growthOf(held)
      .filter(({ is_flat }) => !is_flat)
      .map((growth) => `${name}: ${TITLES[growth.holding]} ${growthText(growth)}`),
  );
}

function growthText({ holding, first, last }: Growth): string {
  const unit = holding.endsWith("bytes") ? MIB : 1;
  return `${Math.round(first / unit)} → ${Math.round(last / unit)}`;
}
