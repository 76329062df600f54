import { type ApiKey, CreatedApiKey, NAME_LENGTH_MAX } from "@ostiary/lib/contracts/identity-api";
import { SelectField, TextField, useWrite } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { ConfirmDeletion } from "../parts/confirm-deletion.tsx";
import { Secret, SecretDialog } from "../parts/secret.tsx";
import { type FieldProblems, type Problems, problemOf, useProblems } from "../parts/use-problems.ts";
import { useTexts } from "../texts/texts.ts";
import { curlOf, type KeyAddress } from "./keys.ts";

interface KeyDialogProps {
  address: KeyAddress;
  onClose: () => void;
  /** Called when the list of keys may have changed. */
  onChange: () => void;
}

const DAY_SECONDS = 86_400;
const DAYS = ["30", "90", "365", "never"] as const;
type Days = (typeof DAYS)[number];

/** Creates a key, and shows it once. */
export function CreateKeyDialog(dialog: KeyDialogProps) {
  const t = useTexts().keys;
  const [name, setName] = useState("");
  const [days, setDays] = useState<Days>("90");
  return (
    <NewKeyDialog
      {...dialog}
      title={t.create}
      action={t.make}
      fields={["name", "expires_in_seconds"]}
      found={{ name: problemOf(name, { lengthMax: NAME_LENGTH_MAX, optional: true }) }}
      path={dialog.address.path}
      body={{
        ...(name.trim() !== "" && { name }),
        ...(days !== "never" && { expires_in_seconds: Number(days) * DAY_SECONDS }),
      }}
    >
      {(problems) => (
        <>
          <TextField
            label={t.columns.name}
            value={name}
            help={t.nameHelp}
            problem={problems.of("name")}
            onInput={setName}
          />
          <SelectField
            label={t.columns.ends}
            value={days}
            options={DAYS.map((value) => ({
              value,
              text: value === "never" ? t.noEnd : t.inDays(Number(value)),
            }))}
            problem={problems.of("expires_in_seconds")}
            onChange={setDays}
          />
        </>
      )}
    </NewKeyDialog>
  );
}

const OVERLAPS = ["0", "3600", "86400", "604800"] as const;

/** Replaces a key with a new one, which is shown once. */
export function RotateKeyDialog({ replaced, ...dialog }: KeyDialogProps & { replaced: ApiKey }) {
  const t = useTexts().keys;
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>("86400");
  return (
    <NewKeyDialog
      {...dialog}
      title={t.rotateTitle(replaced.name)}
      action={t.rotate}
      path={[...dialog.address.path, replaced.id, "rotate"]}
      body={{ overlap_seconds: Number(overlap) }}
    >
      {() => (
        <>
          <p>{t.rotateHelp}</p>
          <SelectField
            label={t.overlap}
            value={overlap}
            options={OVERLAPS.map((value) => ({ value, text: t.overlaps[value] }))}
            onChange={setOverlap}
          />
        </>
      )}
    </NewKeyDialog>
  );
}

interface NewKeyDialogProps extends KeyDialogProps {
  title: string;
  action: string;
  /** The names of the form fields among the children. */
  fields?: readonly string[];
  /** The problems that the page finds in the fields before it sends the form. */
  found?: Problems;
  path: readonly string[];
  body: object;
  children: (problems: FieldProblems) => ComponentChildren;
}

/** Posts a form that makes a new key, and then shows the key once. */
function NewKeyDialog({ address, found = {}, path, body, children, ...dialog }: NewKeyDialogProps) {
  const t = useTexts().keys;
  const { gateway } = useSession();
  const writing = useWrite();
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const problems = useProblems(writing.failure);
  const { as } = address;
  const send = () =>
    problems.pass(found) &&
    writing.write(
      () => gateway.send(CreatedApiKey, pathTo(...path), { as, method: "POST", body }),
      setCreated,
    );
  if (created !== null) {
    return (
      <SecretDialog
        title={t.created(created.name)}
        help={t.createdHelp}
        close={t.stored}
        onClose={() => {
          dialog.onClose();
          dialog.onChange();
        }}
      >
        <Secret value={created.key} label={t.key} copy={t.copyKey} />
        <Secret value={curlOf(address, created.key, location.origin)} label={t.tryIt} copy={t.copyCall} />
      </SecretDialog>
    );
  }
  return (
    <Confirm {...dialog} writing={writing} problems={problems} onConfirm={() => void send()}>
      {children(problems)}
      {writing.failure?.outcomeUnknown === true && <p>{t.unknownHelp}</p>}
    </Confirm>
  );
}

/** Revokes a key, after a confirmation. */
export function RevokeKeyDialog({ address, revoked, ...dialog }: KeyDialogProps & { revoked: ApiKey }) {
  const t = useTexts().keys;
  return (
    <ConfirmDeletion
      {...dialog}
      title={t.revokeTitle(revoked.name)}
      action={t.revoke}
      as={address.as}
      path={pathTo(...address.path, revoked.id)}
      done={t.revoked(revoked.name)}
    >
      <p>
        {t.revokeHelp} <code>{revoked.key_prefix}</code>
      </p>
    </ConfirmDeletion>
  );
}
