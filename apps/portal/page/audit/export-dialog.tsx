import {
  Button,
  Dialog,
  FailureNotice,
  failed,
  type Result,
  SelectField,
  succeeded,
  useWrite,
} from "@ostiary/lib/page";
import { useEffect, useState } from "preact/hooks";
import type { Call, Gateway } from "../gateway.ts";
import { saveFile } from "../parts/save-file.ts";
import { useSession } from "../portal-session.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import type { Log } from "./logs.ts";
import type { Filters } from "./selection.ts";

const TYPES = { csv: "text/csv", ndjson: "application/x-ndjson" } as const;
type ExportFormat = keyof typeof TYPES;
const FORMATS = ["csv", "ndjson"] as const;

/** Exports the events that match the filters as a file, and shows the progress. The export stops with the dialog. */
export function ExportDialog({ log, query, onClose }: { log: Log; query: Filters; onClose: () => void }) {
  const { close, audit } = useTexts();
  const t = audit.export;
  const { number } = useFormats();
  const session = useSession();
  const [format, setFormat] = useState<ExportFormat>("csv");
  const [bytes, setBytes] = useState(0);
  const [stop] = useState(() => new AbortController());
  const { busy, failure, write } = useWrite();
  useEffect(() => () => stop.abort(), []);
  const save = (file: Blob) => {
    if (stop.signal.aborted) return;
    saveFile(file, `audit-log-${new Date().toISOString().slice(0, "2026-01-31".length)}.${format}`);
    session.announce(t.saved);
    onClose();
  };
  const start = () => {
    setBytes(0);
    const headers = { Accept: TYPES[format] };
    const call = { query: { format, ...query }, headers, signal: stop.signal };
    void write(() => readExport(session.gateway, `${log.path}/export`, call, setBytes), save);
  };
  return (
    <Dialog
      title={t.title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{busy ? t.cancel : close}</Button>
          <Button look="main" aria-disabled={busy} onClick={start}>
            {busy ? t.running : t.start}
          </Button>
        </>
      }
    >
      <p>{Object.keys(query).length === 0 ? t.whole : t.filtered}</p>
      <SelectField
        label={t.format}
        value={format}
        options={FORMATS.map((value) => ({ value, text: t.formats[value] }))}
        onInput={setFormat}
      />
      <p role="status" class="quiet">
        {busy && t.progress(number(Math.ceil(bytes / 1024)))}
      </p>
      {failure !== null && <FailureNotice failure={failure} title={t.failed} />}
    </Dialog>
  );
}

/** Downloads an export. Fails if the download ends early: a partial file never looks complete (AU-47). */
async function readExport(
  gateway: Gateway,
  path: string,
  call: Call,
  onProgress: (bytes: number) => void,
): Promise<Result<Blob>> {
  const streamed = await gateway.stream(path, call);
  if (!streamed.ok) return streamed;
  let bytes = 0;
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, out) {
      bytes += chunk.length;
      onProgress(bytes);
      out.enqueue(chunk);
    },
  });
  try {
    const counted = streamed.value.body?.pipeThrough(counting) ?? null;
    return succeeded(await new Response(counted, streamed.value).blob());
  } catch {
    return failed("unavailable");
  }
}
