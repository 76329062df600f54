import { Button, Dialog, type Failure, FailureNotice, SelectField } from "@ostiary/lib/page";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSession } from "../page-session.ts";
import { saveFile } from "../parts/save-file.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import { type ExportFormat, FORMATS, readExport } from "./export.ts";
import type { Log } from "./logs.ts";

interface ExportDialogProps {
  log: Log;
  query: Readonly<Record<string, string>>;
  onClose: () => void;
}

/** Exports the events that match the filters as a file, and shows the progress. */
export function ExportDialog({ log, query, onClose }: ExportDialogProps) {
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
          <Button onClick={onClose}>{running ? t.cancel : t.close}</Button>
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
