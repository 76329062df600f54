import { SUM_NAMES } from "@ostiary/lib/domain/usage";
import type { ExportForm } from "../exports/formats.ts";
import type { Division, Usage } from "./usage.ts";

/** The fields that identify an item of usage, in addition to its time. */
const NAMED_BY: Readonly<Record<Division, readonly (keyof Usage)[]>> = {
  hour: [],
  day: [],
  service: ["service", "platform"],
  route: ["service", "method", "route", "platform"],
  key: ["member_id", "key_prefix"],
};

function cell(value: Usage[keyof Usage]) {
  return typeof value === "boolean" ? String(value) : (value ?? null);
}

/** Returns the export form of usage. Its columns are the fields of an item (AU-114). */
export function usageForm(by: Division): ExportForm<Usage> {
  const columns: readonly (keyof Usage)[] = ["id", "from", "to", ...NAMED_BY[by], ...SUM_NAMES];
  return {
    name: "usage",
    columns,
    cells: (usage) => columns.map((column) => cell(usage[column])),
    shown: (usage) => usage,
  };
}
