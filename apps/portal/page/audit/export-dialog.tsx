import {
  type Answer,
  Button,
  Dialog,
  type Failure,
  FailureNotice,
  failed,
  SelectField,
} from "@ostiary/lib/page";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Gateway } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { saveFile } from "../parts/save-file.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import type { Log } from "./logs.ts";

interface ExportDialogProps {
  log: Log;
  query: Readonly<Record<string, string>>;
  onClose: () => void;
}

/** Exports the events that match the filters as a file, and shows the progress. */
export function ExportDialog({ log, query, onClose }: ExportDialogProps) {
  const { close } = useTexts();
  const t = useTexts().audit.export;
  const [format, setFormat] = useState<ExportFormat>("csv");
  const { bytes, failure, start } = useExport(log, query, onClose);
  const running = bytes !== null;
  return (
    <Dialog
      title={t.title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{running ? t.cancel : close}</Button>
          <Button look="main" aria-disabled={running} onClick={() => start(format)}>
            {running ? t.running : t.start}
          </Button>
        </>
      }
    >
      <p>{Object.keys(query).length === 0 ? t.whole : t.filtered}</p>
      <SelectField
        label={t.format}
        value={format}
        options={FORMATS.map((value) => ({ value, text: t.formats[value] }))}
        onChange={(value) => setFormat(FORMATS.find((each) => each === value) ?? "csv")}
      />
      <ExportProgress bytes={bytes} />
      {failure !== null && <FailureNotice failure={failure} title={t.failed} />}
    </Dialog>
  );
}

function ExportProgress({ bytes }: { bytes: number | null }) {
  const t = useTexts().audit.export;
  const formats = useFormats();
  return (
    <p role="status" class="quiet">
      {bytes !== null && t.progress(formats.number(Math.ceil(bytes / 1024)))}
    </p>
  );
}

/** Runs one export at a time. The export stops when the dialog closes. */
function useExport(log: Log, query: Readonly<Record<string, string>>, onClose: () => void) {
  const t = useTexts().audit.export;
  const session = useSession();
  const [bytes, setBytes] = useState<number | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (format: ExportFormat) => {
    if (running.current !== null) return;
    const mine = new AbortController();
    running.current = mine;
    setFailure(null);
    setBytes(0);
    const answer = await readExport(session.gateway, {
      log,
      query,
      format,
      signal: mine.signal,
      onProgress: setBytes,
    });
    running.current = null;
    if (mine.signal.aborted) return;
    setBytes(null);
    if (!answer.ok) setFailure(answer.failure);
    else {
      saveFile(answer.value, `audit-log-${new Date().toISOString().slice(0, "2026-01-31".length)}.${format}`);
      session.announce(t.saved);
      onClose();
    }
  };
  return { bytes, failure, start };
}

const FORMATS = ["csv", "ndjson"] as const;
type ExportFormat = (typeof FORMATS)[number];

const TYPES: Record<ExportFormat, string> = { csv: "text/csv", ndjson: "application/x-ndjson" };
/** The size at which received chunks are combined into a Blob, which the browser may keep on disk. */
const PART_BYTES = 4 * 1024 * 1024;

/** The options of an export. `onProgress` is called with the number of bytes received. */
interface Export {
  log: Log;
  query: Readonly<Record<string, string>>;
  format: ExportFormat;
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
}

/** Downloads an export. Fails if the download ends early: a partial file never looks complete (AU-47). */
async function readExport(
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
