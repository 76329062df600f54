import { ApiKey } from "@ostiary/lib/contracts/identity-api";
import { Button, DataTable, Time } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { type Log, ORGANIZATION_LOG, PERSON_LOG } from "../audit/logs.ts";
import { pathTo } from "../gateway.ts";
import { AUDIT_LABEL } from "../labels.ts";
import { type Session, useAddress, useSession } from "../page-session.ts";
import { SearchedList } from "../parts/searched-list.tsx";
import { useList } from "../parts/use-pages.ts";
import { useTexts } from "../texts/texts.ts";
import { CreateKeyDialog, RevokeKeyDialog, RotateKeyDialog } from "./key-dialogs.tsx";
import { isUsable, type KeyAddress, stateOf } from "./keys.ts";

type Open = { name: "create" } | { name: "rotate" | "revoke"; key: ApiKey } | null;

interface KeyListProps {
  address: KeyAddress;
  /** Whether the user may create, rotate and revoke keys. */
  manages: boolean;
}

/** Lists the keys of one owner, with dialogs to change the keys. */
export function KeyList({ address, manages }: KeyListProps) {
  const t = useTexts().keys;
  const log = logOf(address, useSession());
  const [open, setOpen] = useState<Open>(null);
  const pages = useList("keys", ApiKey, pathTo(...address.path), address.as);
  const dialog = { address, onClose: () => setOpen(null), onChange: pages.again };
  return (
    <section aria-label={t.title}>
      <h2>{t.title}</h2>
      {manages && (
        <p class="actions">
          <Button look="main" onClick={() => setOpen({ name: "create" })}>
            {t.create}
          </Button>
        </p>
      )}
      <SearchedList pages={pages} texts={t} textOf={({ name, key_prefix }) => `${name} ${key_prefix}`}>
        {(keys) => <KeyTable keys={keys} log={log} manages={manages} onOpen={setOpen} />}
      </SearchedList>
      {open?.name === "create" && <CreateKeyDialog {...dialog} />}
      {open?.name === "rotate" && <RotateKeyDialog {...dialog} replaced={open.key} />}
      {open?.name === "revoke" && <RevokeKeyDialog {...dialog} revoked={open.key} />}
    </section>
  );
}

/** Returns the log with the events of the keys, or null if the user may not read that log. */
function logOf({ as }: KeyAddress, session: Session): Log | null {
  if (as === "person") return PERSON_LOG;
  return session.may(AUDIT_LABEL) ? ORGANIZATION_LOG : null;
}

interface KeyTableProps {
  keys: readonly ApiKey[];
  log: Log | null;
  manages: boolean;
  onOpen: (open: Open) => void;
}

function KeyTable({ keys, log, manages, onOpen }: KeyTableProps) {
  const t = useTexts().keys;
  const { columns } = t;
  const nowMs = Date.now();
  return (
    <DataTable
      label={t.title}
      columns={[columns.name, columns.key, columns.used, columns.ends, ...(manages ? [columns.actions] : [])]}
      rows={keys.map((key) => ({
        key: key.id,
        cells: [
          key.name,
          <KeyPrefix prefix={key.key_prefix} log={log} />,
          key.last_used_at === null ? t.neverUsed : <Time at={key.last_used_at} />,
          <Ends shown={key} nowMs={nowMs} />,
          ...(manages
            ? [
                isUsable(key, nowMs) && (
                  <span class="actions">
                    <Button onClick={() => onOpen({ name: "rotate", key })}>{t.rotate}</Button>
                    <Button look="danger" onClick={() => onOpen({ name: "revoke", key })}>
                      {t.revoke}
                    </Button>
                  </span>
                ),
              ]
            : []),
        ],
      }))}
    />
  );
}

/** Shows the beginning of a key, and links to the key's events. */
function KeyPrefix({ prefix, log }: { prefix: string; log: Log | null }) {
  const { sameKey } = useTexts().audit;
  const address = useAddress();
  return (
    <>
      <code>{prefix}</code>
      {log !== null && (
        <>
          {" "}
          <a href={address(log.view, { query: new URLSearchParams({ key_prefix: prefix }) })}>{sameKey}</a>
        </>
      )}
    </>
  );
}

function Ends({ shown, nowMs }: { shown: ApiKey; nowMs: number }) {
  const t = useTexts().keys;
  const state = stateOf(shown, nowMs);
  const at = state === "revoked" ? shown.revoked_at : shown.expires_at;
  if (at === null) return <>{t.noEnd}</>;
  return (
    <>
      {state !== "valid" && <strong>{t.states[state]} </strong>}
      <Time at={at} />
    </>
  );
}
