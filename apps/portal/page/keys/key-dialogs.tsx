import { type ApiKey, CreatedApiKey, NAME_LENGTH_MAX } from "@ostiary/lib/contracts/identity-api";
import { Dialog } from "@ostiary/lib/page";
import { Type } from "@sinclair/typebox";
import { useState } from "preact/hooks";
import { type Gateway, pathTo } from "../gateway.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Secret } from "../parts/secret.tsx";
import { SelectField } from "../parts/select-field.tsx";
import { TextField } from "../parts/text-field.tsx";
import { problemOf, useProblems } from "../parts/use-problems.ts";
import { useSession, useWrite } from "../session.ts";
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
export function CreateKeyDialog({ address, onClose, onChange }: KeyDialogProps) {
  const t = useTexts().keys;
  const { gateway } = useSession();
  const writing = useWrite();
  const [name, setName] = useState("");
  const [days, setDays] = useState<Days>("90");
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const end = () => {
    onClose();
    onChange();
  };
  if (created !== null) return <CreatedDialog address={address} created={created} onClose={end} />;
  const problems = useProblems(writing.failure);
  const create = () =>
    problems.pass({ name: problemOf(name, { length_max: NAME_LENGTH_MAX, optional: true }) }) &&
    writing.write(() => createKey(gateway, address, name, days), setCreated);
  return (
    <Confirm
      title={t.create}
      action={t.make}
      writing={writing}
      problems={problems}
      fields={["name", "expires_in_seconds"]}
      onConfirm={() => void create()}
      onClose={onClose}
      onLookAgain={end}
    >
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
      {writing.failure?.outcome_unknown === true && <p>{t.unknownHelp}</p>}
    </Confirm>
  );
}

function createKey(gateway: Gateway, { path, as }: KeyAddress, name: string, days: Days) {
  const body = {
    ...(name.trim() !== "" && { name }),
    ...(days !== "never" && { expires_in_seconds: Number(days) * DAY_SECONDS }),
  };
  return gateway.send(CreatedApiKey, pathTo(...path), { as, method: "POST", body });
}

const OVERLAPS = ["0", "3600", "86400", "604800"] as const;

/** Replaces a key with a new one, which is shown once. */
export function RotateKeyDialog({
  address,
  replaced,
  onClose,
  onChange,
}: KeyDialogProps & { replaced: ApiKey }) {
  const t = useTexts().keys;
  const { gateway } = useSession();
  const writing = useWrite();
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>("86400");
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const end = () => {
    onClose();
    onChange();
  };
  if (created !== null) return <CreatedDialog address={address} created={created} onClose={end} />;
  const rotate = () =>
    writing.write(
      () =>
        gateway.send(CreatedApiKey, pathTo(...address.path, replaced.id, "rotate"), {
          as: address.as,
          method: "POST",
          body: { overlap_seconds: Number(overlap) },
        }),
      setCreated,
    );
  return (
    <Confirm
      title={t.rotateTitle(replaced.name)}
      action={t.rotate}
      writing={writing}
      onConfirm={rotate}
      onClose={onClose}
      onLookAgain={end}
    >
      <p>{t.rotateHelp}</p>
      <SelectField
        label={t.overlap}
        value={overlap}
        options={OVERLAPS.map((value) => ({ value, text: t.overlaps[value] }))}
        onChange={setOverlap}
      />
      {writing.failure?.outcome_unknown === true && <p>{t.unknownHelp}</p>}
    </Confirm>
  );
}

/** Revokes a key, after a confirmation. */
export function RevokeKeyDialog({
  address,
  revoked,
  onClose,
  onChange,
}: KeyDialogProps & { revoked: ApiKey }) {
  const t = useTexts().keys;
  const session = useSession();
  const writing = useWrite();
  const end = () => {
    onClose();
    onChange();
  };
  const revoke = () =>
    writing.write(
      () =>
        session.gateway.send(Type.Null(), pathTo(...address.path, revoked.id), {
          as: address.as,
          method: "DELETE",
        }),
      () => {
        session.announce(t.revoked(revoked.name));
        end();
      },
    );
  return (
    <Confirm
      title={t.revokeTitle(revoked.name)}
      action={t.revoke}
      danger
      writing={writing}
      onConfirm={revoke}
      onClose={onClose}
      onLookAgain={end}
    >
      <p>
        {t.revokeHelp} <code>{revoked.key_prefix}</code>
      </p>
    </Confirm>
  );
}

/** Shows a new key. The page forgets the key when the dialog closes. */
function CreatedDialog({
  address,
  created,
  onClose,
}: {
  address: KeyAddress;
  created: CreatedApiKey;
  onClose: () => void;
}) {
  const t = useTexts().keys;
  return (
    <Dialog
      title={t.created(created.name)}
      onClose={onClose}
      actions={
        <button type="button" class="button button-main" onClick={onClose}>
          {t.stored}
        </button>
      }
    >
      <p>{t.createdHelp}</p>
      <Secret value={created.key} label={t.key} copy={t.copyKey} />
      <Secret value={curlOf(address, created.key, location.origin)} label={t.tryIt} copy={t.copyCall} />
    </Dialog>
  );
}
