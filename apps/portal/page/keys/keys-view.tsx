import { ApiKey, CreatedApiKey, NAME_LENGTH_MAX } from "@ostiary/lib/contracts/identity-api";
import { curlCommand } from "@ostiary/lib/openapi";
import {
  Button,
  type Choice,
  DataTable,
  type Result,
  SearchedList,
  SelectField,
  TextField,
  Time,
} from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Log, ORGANIZATION_LOG, PERSON_LOG } from "../audit/logs.ts";
import { pathTo } from "../gateway.ts";
import { Confirm, ConfirmDeletion, Secret, SecretDialog } from "../parts/confirm.tsx";
import { type FieldProblems, type Problems, problemOf, useForm } from "../parts/use-problems.ts";
import { useAddress, useList, useSession } from "../portal-session.ts";
import { AUDIT_LABEL } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";
import { keyState } from "./key-state.ts";

type Open = { name: "create" } | { name: "rotate" | "revoke"; key: ApiKey } | null;

interface KeyListProps {
  address: KeyAddress;
  /** Whether the user may create, rotate and revoke keys. */
  manages: boolean;
  /** Further buttons. They call `onChange` when the list may have changed. */
  more?: (onChange: () => void) => ComponentChildren;
}

/** Lists the keys of one owner, with dialogs to change the keys. */
export function KeyList({ address, manages, more }: KeyListProps) {
  const { keys: t, invites, audit } = useTexts();
  const session = useSession();
  const addressIn = useAddress();
  const ofMember = session.may(AUDIT_LABEL) ? ORGANIZATION_LOG : null;
  const log = address === PERSON_KEY_ADDRESS ? PERSON_LOG : ofMember;
  const eventsOf = ({ view }: Log, { key_prefix }: ApiKey) =>
    addressIn(view, { query: new URLSearchParams({ key_prefix }) });
  const nowMs = Date.now();
  /** The last column has the actions. */
  const cellsMax = manages ? 5 : 4;
  const [open, setOpen] = useState<Open>(null);
  const pages = useList("keys", ApiKey, pathTo(...address.path));
  const dialog = { address, onClose: () => setOpen(null), onChange: pages.reload };
  return (
    <section aria-label={t.title}>
      <h2>{t.title}</h2>
      {manages && (
        <p class="actions">
          <Button look="main" onClick={() => setOpen({ name: "create" })}>
            {t.create}
          </Button>
          {more?.(pages.reload)}
        </p>
      )}
      <SearchedList pages={pages} texts={t} textOf={({ name, key_prefix }) => `${name} ${key_prefix}`}>
        {(keys) => (
          <DataTable
            label={t.title}
            columns={Object.values(t.columns).slice(0, cellsMax)}
            rows={keys.map((key) => ({
              key: key.id,
              cells: [
                <span class="name">{key.name}</span>,
                <>
                  <code>{key.key_prefix}</code>
                  {log !== null && (
                    <a class="below" href={eventsOf(log, key)}>
                      {audit.sameKey}
                    </a>
                  )}
                </>,
                key.last_used_at === null ? t.neverUsed : <Time at={key.last_used_at} />,
                <Ends shown={key} nowMs={nowMs} />,
                isUsable(key, nowMs) && (
                  <span class="actions">
                    <Button onClick={() => setOpen({ name: "rotate", key })}>{t.rotate}</Button>
                    <Button look="danger" onClick={() => setOpen({ name: "revoke", key })}>
                      {invites.revoke}
                    </Button>
                  </span>
                ),
              ].slice(0, cellsMax),
            }))}
          />
        )}
      </SearchedList>
      {open?.name === "create" && <CreateKeyDialog {...dialog} />}
      {open?.name === "rotate" && <RotateKeyDialog {...dialog} replaced={open.key} />}
      {open?.name === "revoke" && (
        <ConfirmDeletion
          title={t.revokeTitle(open.key.name)}
          action={invites.revoke}
          path={pathTo(...address.path, open.key.id)}
          done={t.revoked(open.key.name)}
          onClose={dialog.onClose}
          onChange={pages.reload}
        >
          <p>
            {t.revokeHelp} <code>{open.key.key_prefix}</code>
          </p>
        </ConfirmDeletion>
      )}
    </section>
  );
}

function Ends({ shown, nowMs }: { shown: ApiKey; nowMs: number }) {
  const t = useTexts().keys;
  const state = keyState(shown, nowMs);
  const at = state === "revoked" ? shown.revoked_at : shown.expires_at;
  if (at === null) return <>{t.noEnd}</>;
  return (
    <>
      {state !== "valid" && <strong>{t.states[state]} </strong>}
      <Time at={at} />
    </>
  );
}

export interface KeyDialogProps {
  address: KeyAddress;
  onClose: () => void;
  /** Called when the list of keys may have changed. */
  onChange: () => void;
}

const DAY_SECONDS = 86_400;
const DAYS = ["30", "90", "365", "never"] as const;
export type Days = (typeof DAYS)[number];

/** Returns the field of a request that says when a key ends. */
export function expiryOf(days: Days): { expires_in_seconds?: number } {
  return days === "never" ? {} : { expires_in_seconds: Number(days) * DAY_SECONDS };
}

export function DaysField(field: Omit<Choice<Days>, "options"> & { problem: string | null }) {
  const t = useTexts().keys;
  return (
    <SelectField
      {...field}
      label={t.columns.ends}
      options={DAYS.map((value) => ({ value, text: value === "never" ? t.noEnd : t.inDays(Number(value)) }))}
    />
  );
}

function CreateKeyDialog({ address, ...dialog }: KeyDialogProps) {
  const { keys: t, serviceAccounts } = useTexts();
  const [name, setName] = useState("");
  const [days, setDays] = useState<Days>("90");
  return (
    <NewKeyDialog
      {...dialog}
      title={t.create}
      action={serviceAccounts.make}
      fields={["name", "expires_in_seconds"]}
      found={{ name: problemOf(name, { lengthMax: NAME_LENGTH_MAX, optional: true }) }}
      example={address.example}
      make={useMaker(address.path, { ...(name.trim() !== "" && { name }), ...expiryOf(days) })}
    >
      {(problems) => (
        <>
          <TextField label={t.columns.name} help={t.nameHelp} {...problems.field("name", name, setName)} />
          <DaysField {...problems.field("expires_in_seconds", days, setDays)} />
        </>
      )}
    </NewKeyDialog>
  );
}

const OVERLAPS = ["0", "3600", "86400", "604800"] as const;

/** Replaces a key with a new one, which is shown once. */
function RotateKeyDialog({ replaced, address, ...dialog }: KeyDialogProps & { replaced: ApiKey }) {
  const t = useTexts().keys;
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>("86400");
  return (
    <NewKeyDialog
      {...dialog}
      title={t.rotateTitle(replaced.name)}
      action={t.rotate}
      example={address.example}
      make={useMaker([...address.path, replaced.id, "rotate"], { overlap_seconds: Number(overlap) })}
    >
      {() => (
        <>
          <p>{t.rotateHelp}</p>
          <SelectField
            label={t.overlap}
            value={overlap}
            options={OVERLAPS.map((value) => ({ value, text: t.overlaps[value] }))}
            onInput={setOverlap}
          />
        </>
      )}
    </NewKeyDialog>
  );
}

interface NewKeyDialogProps extends Omit<KeyDialogProps, "address"> {
  title: string;
  action: string;
  /** The names of the form fields among the children. */
  fields?: readonly string[];
  /** The problems that the page finds in the fields before it sends the form. */
  found?: Problems;
  /** The path of an example call that the key can make. */
  example: string;
  make: () => Promise<Result<CreatedApiKey>>;
  children: (problems: FieldProblems) => ComponentChildren;
}

/** Sends a form that makes a new key, and then shows the key once, with a call that works. */
export function NewKeyDialog({ found = {}, example, make, children, ...dialog }: NewKeyDialogProps) {
  const t = useTexts().keys;
  const session = useSession();
  const form = useForm();
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const create = () =>
    form.send(found, make, (key, isLeft) => {
      if (isLeft) session.announce(t.neverShown(key.name));
      else setCreated(key);
    });
  if (created === null) {
    return (
      <Confirm {...dialog} form={form} onConfirm={create}>
        {children(form)}
        {form.failure?.outcomeUnknown === true && <p>{t.unknownHelp}</p>}
      </Confirm>
    );
  }
  const close = () => {
    dialog.onClose();
    dialog.onChange();
  };
  const call = { method: "GET", origin: location.origin, target: example, credential: null, body: null };
  return (
    <SecretDialog
      title={t.created(created.name)}
      help={t.createdHelp}
      close={t.stored}
      lost={t.lost}
      onClose={close}
    >
      <Secret value={created.key} label={t.key} copy={t.copyKey} />
      <Secret
        value={curlCommand({ ...call, headers: [["X-API-Key", created.key]] })}
        label={t.tryIt}
        copy={t.copyCall}
      />
    </SecretDialog>
  );
}

/** Returns the call that makes a key at `path`. */
function useMaker(path: readonly string[], body: object) {
  const { gateway } = useSession();
  return () => gateway.send(CreatedApiKey, pathTo(...path), { method: "POST", body });
}

/** The API address of the keys of one owner: a person, a member, or a service account. */
interface KeyAddress {
  readonly path: readonly string[];
  /** The path of an example call that a key of this owner can make. */
  readonly example: string;
}

export const PERSON_KEY_ADDRESS: KeyAddress = { path: ["user", "api-keys"], example: "/user" };
export const MEMBER_KEY_ADDRESS: KeyAddress = { path: ["member", "api-keys"], example: "/org" };

export function serviceAccountKeys(service_account_id: string): KeyAddress {
  return { path: ["org", "service-accounts", service_account_id, "api-keys"], example: "/org" };
}

function isUsable(key: ApiKey, nowMs: number): boolean {
  const state = keyState(key, nowMs);
  return state === "valid" || state === "ends_soon";
}
