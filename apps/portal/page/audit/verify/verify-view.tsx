import { ownerOf } from "@ostiary/lib/domain/proof/owner";
import { Button, CopyButton, FailureNotice, Field, Form, Notice } from "@ostiary/lib/page";
import type { Verdict } from "@ostiary/lib/verification";
import { isAltered } from "@ostiary/lib/verification/findings";
import { useEffect, useState } from "preact/hooks";
import { saveFile } from "../../parts/save-file.ts";
import { useAddress, useSession } from "../../portal-session.ts";
import { useFormats, useTexts } from "../../texts/texts.ts";
import { commandOf, type Log, PERSON_LOG } from "../logs.ts";
import type { KeptCopy } from "./messages.ts";
import { useVerifier, type Verifier } from "./use-verifier.ts";
import { keepVerified } from "./verified-up-to.ts";

/** Verifies the whole log in this browser (PT-62). */
export function VerifyView({ log }: { log: Log }) {
  const { audit: t, reference } = useTexts();
  const { number } = useFormats();
  const { member, person, settings } = useSession();
  const address = useAddress();
  const verifier = useVerifier();
  const { verification } = verifier;
  const isOfPerson = log === PERSON_LOG;
  const owner_id = (isOfPerson ? person.value?.id : member.value?.organization_id) ?? "";
  const owner = ownerOf(isOfPerson ? "user" : "organization", owner_id);
  const command = commandOf(log.path, owner, settings.witnesses, location.origin);
  useEffect(() => {
    if (verification.state !== "done") return;
    const { result, root } = verification.verdict;
    if (result === "complete" && root !== null) keepVerified(owner_id, root.sealed_at);
  }, [verification.state]);
  return (
    <>
      <p>
        <a href={address(log.view)}>{t.back}</a>
      </p>
      <h2>{t.verify.link}</h2>
      <p class="lead">{t.verify.lead}</p>
      {isSecureContext ? (
        <Start log={log} owner={owner} verifier={verifier} />
      ) : (
        <p role="alert">{t.verify.insecure}</p>
      )}
      <p role="status">
        {verification.state === "running" &&
          t.verify.progress(number(verification.events), number(Math.ceil(verification.bytes / 1024)))}
      </p>
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
      <details>
        <summary>{t.verify.command}</summary>
        <pre class="wrapped">{command}</pre>
        <CopyButton text={command} label={reference.copyCommand} />
      </details>
    </>
  );
}

/** Lets the customer choose an earlier copy, and starts or stops the verification. */
function Start({ log, owner, verifier }: { log: Log; owner: string; verifier: Verifier }) {
  const t = useTexts().audit.verify;
  const session = useSession();
  const [kept, setKept] = useState<File | null>(null);
  const { verification } = verifier;
  const running = verification.state === "running";
  const refused = verification.state === "failed" && verification.reason === "kept";
  const start = async () => {
    const headers = await session.gateway.credential(log.path);
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

const SHOWN_MAX = 20;
const LOOKS = { complete: "good", altered: "bad", undecided: "warn" } as const;

/** Shows what a verification found, in the page's language (PT-47). */
function VerdictNotice({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const { number, time } = useFormats();
  const { result, events, occurred_from, occurred_to, findings, findings_total } = verdict;
  const isSpan = occurred_from !== null && occurred_to !== null;
  const span = isSpan ? { from: time(occurred_from), to: time(occurred_to) } : null;
  const shown = findings.filter((finding) => result !== "altered" || isAltered(finding)).slice(0, SHOWN_MAX);
  const more = findings_total - Math.min(findings.length, SHOWN_MAX);
  return (
    <section class={`notice notice-${LOOKS[result]}`} role="alert" aria-label={t.verdict}>
      <p class="notice-title">
        {result === "altered" ? t.altered : t[result]({ value: events, text: number(events) }, span)}
      </p>
      {shown.length > 0 && (
        <ol class="problems">
          {shown.map(t.finding).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ol>
      )}
      {shown.length > 0 && more > 0 && <p>{t.more(number(more))}</p>}
      {result !== "altered" && <Facts verdict={verdict} />}
    </section>
  );
}

function Facts({ verdict }: { verdict: Verdict }) {
  const t = useTexts().audit.verify;
  const { number, time } = useFormats();
  const { entries, pending, root, keys, key_given, kept, dropped, restarts, earlier_trees } = verdict;
  const cosigned = (verdict.witnesses?.cosignatures ?? []).filter(({ cosigned_at }) => cosigned_at !== null);
  const names = cosigned.map(({ name }) => name).join(", ");
  const facts = [
    t.entries(number(entries)),
    pending > 0 && t.pending(number(pending)),
    root !== null && t.root(root.origin, number(root.size), time(root.sealed_at)),
    ...keys.map((key) => (
      <>
        {t.signed} <code>{key}</code> {!key_given && t.keyOfFile}
      </>
    )),
    ...kept.map(({ size }) => t.continues(number(size))),
    cosigned.length > 0 && t.seenBy({ value: cosigned.length, text: number(cosigned.length) }, names),
    dropped !== null && t.dropped(number(dropped.entries), dropped.month),
    ...restarts.map(({ declared_at, from }) => t.restart(time(declared_at), number(from))),
    ...earlier_trees.map(({ declared_at, origin }) => t.earlierTree(time(declared_at), origin)),
  ];
  return <ul>{facts.map((fact, index) => fact !== false && <li key={index}>{fact}</li>)}</ul>;
}
