import { type Answer, failed } from "@ostiary/lib/page";
import type { Gateway } from "../gateway.ts";
import type { Log } from "./logs.ts";

export const FORMATS = ["csv", "ndjson"] as const;
export type ExportFormat = (typeof FORMATS)[number];

const TYPES: Record<ExportFormat, string> = { csv: "text/csv", ndjson: "application/x-ndjson" };
/** The size at which received chunks are combined into a Blob, which the browser may keep on disk. */
const PART_BYTES = 4 * 1024 * 1024;

/** The options of an export. `onProgress` is called with the number of bytes received. */
export interface Export {
  log: Log;
  query: Readonly<Record<string, string>>;
  format: ExportFormat;
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
}

/** Downloads an export. Fails if the download ends early: a partial file never looks complete (AU-47). */
export async function readExport(
  gateway: Gateway,
  { log, query, format, signal, onProgress }: Export,
): Promise<Answer<Blob>> {
  const answer = await gateway.stream(`${log.path}/export`, {
    as: log.as,
    query: { format, ...query },
    headers: { Accept: TYPES[format] },
    signal,
  });
  if (!answer.ok) return answer;
  const reader = answer.value.body?.getReader();
  if (reader === undefined) return failed("strange");
  try {
    return { ok: true, value: await collect(reader, TYPES[format], onProgress) };
  } catch {
    return failed("away");
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  type: string,
  onProgress: (bytes: number) => void,
): Promise<Blob> {
  const parts: Blob[] = [];
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let pending = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob([...parts, ...chunks], { type });
    chunks.push(value);
    bytes += value.length;
    pending += value.length;
    onProgress(bytes);
    if (pending < PART_BYTES) continue;
    parts.push(new Blob(chunks));
    chunks = [];
    pending = 0;
  }
}
