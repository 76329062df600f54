import { ownerOf } from "@ostiary/lib/domain/proof";
import { Button, CopyButton, FailureNotice, Field, Form, Notice } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { useAddress, useSession } from "../../page-session.ts";
import { saveFile } from "../../parts/save-file.ts";
import { useFormats, useTexts } from "../../texts/texts.ts";
import type { Log } from "../logs.ts";
import { commandOf } from "./command.ts";
import type { KeptCopy } from "./messages.ts";
import { useVerifier, type Verification, type Verifier } from "./use-verifier.ts";
import { VerdictNotice } from "./verdict-notice.tsx";

/** Verifies the whole log in this browser (PT-62). */
export function VerifyView({ log }: { log: Log }) {
  const t = useTexts().audit;
  const address = useAddress();
  const verifier = useVerifier();
  const { verification } = verifier;
  return (
    <>
      <p>
        <a href={address(log.view)}>{t.back}</a>
      </p>
      <h2>{t.verify.title}</h2>
      <p class="lead">{t.verify.lead}</p>
      {isSecureContext ? <Start log={log} verifier={verifier} /> : <p role="alert">{t.verify.insecure}</p>}
      <Progress verification={verification} />
      {verification.state === "refused" && <FailureNotice failure={verification.failure} />}
      {verification.state === "failed" && verification.reason !== "kept" && (
        <Notice tone="bad" title={t.verify.failed[verification.reason]} role="alert" />
      )}
      {verification.state === "done" && (
        <>
          <VerdictNotice verdict={verification.verdict} />
          {verification.copy !== null && verification.verdict.result !== "altered" && (
            <Keep copy={verification.copy} />
          )}
        </>
      )}
      <OnTheCommandLine log={log} />
    </>
  );
}

/** Returns the owner whose log the page shows, or null while the page does not know it. */
function useOwner({ as }: Log): string | null {
  const { member, person } = useSession();
  const id = as === "member" ? member.value?.organization_id : person.value?.id;
  return id === undefined ? null : ownerOf(as === "member" ? "organization" : "user", id);
}

/** Lets the customer choose an earlier copy, and starts or stops the verification. */
function Start({ log, verifier }: { log: Log; verifier: Verifier }) {
  const t = useTexts().audit.verify;
  const session = useSession();
  const [kept, setKept] = useState<File | null>(null);
  const owner = useOwner(log);
  const { verification } = verifier;
  const running = verification.state === "running";
  const refused = verification.state === "failed" && verification.reason === "kept";
  const start = async () => {
    if (owner === null) return;
    const headers = await session.gateway.credential(log.as);
    if (!headers.ok) return verifier.refuse(headers.failure);
    const address = new URL(`${log.path}/export?format=ndjson&proof=true`, location.origin);
    verifier.start({
      exportUrl: address.href,
      headers: headers.value,
      owner,
      kept,
      witnesses: session.settings.witnesses,
    });
  };
  return (
    <Form class="fields" onSubmit={() => !running && void start()}>
      <Field label={t.kept} help={t.keptHelp} problem={refused ? t.failed.kept : null}>
        {(connection) => (
          <input
            {...connection}
            type="file"
            accept=".ndjson,.txt"
            onChange={({ currentTarget }) => setKept(currentTarget.files?.[0] ?? null)}
          />
        )}
      </Field>
      <div class="actions">
        <Button type="submit" look="main" aria-disabled={running}>
          {running ? t.running : t.start}
        </Button>
        {running && <Button onClick={verifier.cancel}>{t.cancel}</Button>}
      </div>
    </Form>
  );
}

function Progress({ verification }: { verification: Verification }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  return (
    <p role="status">
      {verification.state === "running" &&
        t.progress(formats.number(verification.events), formats.number(Math.ceil(verification.bytes / 1024)))}
    </p>
  );
}

/**
 * Offers the signed root as a file. A later verification uses the file to detect changes before that root.
 */
function Keep({ copy }: { copy: KeptCopy }) {
  const t = useTexts().audit.verify;
  const formats = useFormats();
  const save = () => saveFile(new Blob([copy.text], { type: "text/plain" }), `audit-root-${copy.size}.txt`);
  return (
    <section aria-label={t.keepTitle}>
      <h3>{t.keepTitle}</h3>
      <p>{t.keepHelp}</p>
      <Button onClick={save}>{t.keep(formats.number(copy.size))}</Button>
    </section>
  );
}

function OnTheCommandLine({ log }: { log: Log }) {
  const t = useTexts().audit.verify;
  const { witnesses } = useSession().settings;
  const owner = useOwner(log);
  if (owner === null) return null;
  const command = commandOf(log, owner, witnesses, location.origin);
  return (
    <details>
      <summary>{t.command}</summary>
      <pre class="wrapped">{command}</pre>
      <CopyButton text={command} label={t.command} />
    </details>
  );
}
