import { type ChainPlace, type EntryRow, fitting, streamEntry } from "../batch.ts";
import { OPERATOR_STREAM } from "../lease-sql.ts";
import { ocsfBody, ocsfText } from "../ocsf.ts";

export interface OrganizationPart {
  organization_id: string;
  chain_id: number;
  after: ChainPlace;
  entries: readonly EntryRow[];
}

/** A delivery request of the operator's stream, and the entries of each organization that it covers. */
export interface OperatorBatch {
  /** Null if the format leaves out all entries. */
  body: Buffer | null;
  parts: OrganizationPart[];
}

/** The maximum number of bytes that an organization adds to a body, without its entries. */
const PART_BYTES_MAX = 512;

interface PlacedRow {
  part: OrganizationPart;
  row: EntryRow;
}

/** Builds the body of a delivery request from as many of the first entries as fit (AU-110). */
export function operatorBatch(
  format: "ostiary" | "ocsf",
  parts: readonly OrganizationPart[],
  nowMs: number,
): OperatorBatch {
  const placed = parts.flatMap((part) => part.entries.map((row) => ({ part, row })));
  const textOf = ({ part, row }: PlacedRow) =>
    format === "ocsf" ? ocsfText(part, row) : JSON.stringify(streamEntry(row));
  const { texts, entries } = fitting(placed, textOf, PART_BYTES_MAX);
  const taken = takenParts(parts, entries);
  return { body: format === "ocsf" ? ocsfBody(texts) : ostiaryBody(taken, texts, nowMs), parts: taken };
}

function takenParts(parts: readonly OrganizationPart[], taken: readonly PlacedRow[]): OrganizationPart[] {
  return parts.flatMap((part) => {
    const entries = taken.filter((each) => each.part === part).map(({ row }) => row);
    return entries.length === 0 ? [] : [{ ...part, entries }];
  });
}

function ostiaryBody(parts: readonly OrganizationPart[], texts: readonly string[], nowMs: number): Buffer {
  let index = 0;
  const organizations = parts.map(({ organization_id, after, entries }) => {
    const own = texts.slice(index, index + entries.length);
    index += entries.length;
    const head = JSON.stringify({ organization_id, after }).slice(0, -1);
    return `${head},"entries":[${own.join(",")}]}`;
  });
  const timestamp = new Date(nowMs).toISOString();
  return Buffer.from(
    `{"type":"audit.entries","timestamp":"${timestamp}","data":{"stream_id":"${OPERATOR_STREAM}","organizations":[${organizations.join(",")}]}}`,
  );
}

/** Returns the id of the message. Batches with the same entries have the same id (AU-103). */
export function operatorMessageId(parts: readonly OrganizationPart[]): string {
  const [first, last] = [parts.at(0), parts.at(-1)];
  const begin = `${first?.chain_id}.${first?.entries.at(0)?.position}`;
  const end = `${last?.chain_id}.${last?.entries.at(-1)?.position}`;
  const count = parts.reduce((sum, { entries }) => sum + entries.length, 0);
  return `${OPERATOR_STREAM}-${begin}-${end}-${count}`;
}
