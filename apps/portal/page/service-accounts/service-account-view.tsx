import { NAME_LENGTH_MAX, ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { Type } from "@sinclair/typebox";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { KeyList } from "../keys/key-list.tsx";
import { serviceAccountKeys } from "../keys/keys.ts";
import { MEMBERS } from "../members/place.ts";
import { Confirm } from "../parts/confirm.tsx";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { Loading, Time } from "../parts/shown.tsx";
import { TextField } from "../parts/text-field.tsx";
import { problemOf, useProblems } from "../parts/use-problems.ts";
import { useAsked, useSession, useWrite } from "../session.ts";
import { useTexts } from "../texts/texts.ts";
import { useAddress } from "../use-address.ts";
import { SERVICE_ACCOUNTS, SERVICE_ACCOUNTS_LABEL } from "./place.ts";

/** Shows a service account with its keys. The view of its member changes the role and the status. */
export function ServiceAccountView({ id }: { id: string }) {
  const t = useTexts().serviceAccounts;
  const session = useSession();
  const address = useAddress();
  const { answer, loading, failure, again } = useAsked(
    () => session.gateway.send(ServiceAccount, pathTo("org", "service-accounts", id), { as: "member" }),
    id,
  );
  return (
    <>
      <p>
        <a href={address(SERVICE_ACCOUNTS)}>{t.back}</a>
      </p>
      {failure !== null && <FailureNotice failure={failure} onRetry={again} />}
      {answer === null && loading && <Loading />}
      {answer !== null && (
        <>
          <Account account={answer} onChange={again} />
          <KeyList address={serviceAccountKeys(id)} manages={session.may(SERVICE_ACCOUNTS_LABEL)} />
        </>
      )}
    </>
  );
}

interface AccountProps {
  account: ServiceAccount;
  onChange: () => Promise<void>;
}

function Account({ account, onChange }: AccountProps) {
  const t = useTexts();
  const session = useSession();
  const address = useAddress();
  const [open, setOpen] = useState<"rename" | "remove" | null>(null);
  const close = () => setOpen(null);
  return (
    <section aria-label={account.name}>
      <h2>{account.name}</h2>
      <dl class="facts">
        <dt>{t.members.columns.role}</dt>
        <dd>{account.role ?? t.members.noRole}</dd>
        <dt>{t.members.columns.status}</dt>
        <dd>{t.members.status[account.status]}</dd>
        <dt>{t.members.columns.since}</dt>
        <dd>
          <Time at={account.created_at} />
        </dd>
      </dl>
      <p>
        <a href={address(MEMBERS, { segments: [account.member_id] })}>{t.serviceAccounts.member}</a>
      </p>
      {session.may(SERVICE_ACCOUNTS_LABEL) && (
        <div class="actions">
          <button type="button" class="button" onClick={() => setOpen("rename")}>
            {t.serviceAccounts.rename}
          </button>
          <button type="button" class="button button-danger" onClick={() => setOpen("remove")}>
            {t.serviceAccounts.remove}
          </button>
        </div>
      )}
      {open === "rename" && <RenameDialog account={account} onClose={close} onChange={onChange} />}
      {open === "remove" && <RemoveDialog account={account} onClose={close} onChange={onChange} />}
    </section>
  );
}

interface DialogProps extends AccountProps {
  onClose: () => void;
}

function RenameDialog({ account, onClose, onChange }: DialogProps) {
  const { serviceAccounts: t, members } = useTexts();
  const { gateway } = useSession();
  const writing = useWrite();
  const [name, setName] = useState(account.name);
  const end = () => {
    onClose();
    void onChange();
  };
  const problems = useProblems(writing.failure);
  const rename = () =>
    problems.pass({ name: problemOf(name, { length_max: NAME_LENGTH_MAX }) }) &&
    writing.write(
      () =>
        gateway.send(ServiceAccount, pathTo("org", "service-accounts", account.id), {
          as: "member",
          method: "PATCH",
          body: { name },
        }),
      end,
    );
  return (
    <Confirm
      title={t.renameTitle(account.name)}
      action={t.rename}
      writing={writing}
      problems={problems}
      fields={["name"]}
      onConfirm={() => void rename()}
      onClose={onClose}
      onLookAgain={end}
    >
      <TextField
        label={members.columns.name}
        value={name}
        help={t.nameHelp}
        problem={problems.of("name")}
        onInput={setName}
        required
      />
    </Confirm>
  );
}

function RemoveDialog({ account, onClose, onChange }: DialogProps) {
  const t = useTexts().serviceAccounts;
  const session = useSession();
  const address = useAddress();
  const writing = useWrite();
  const remove = () =>
    writing.write(
      () =>
        session.gateway.send(Type.Null(), pathTo("org", "service-accounts", account.id), {
          as: "member",
          method: "DELETE",
        }),
      () => {
        session.announce(t.removed(account.name));
        onClose();
        location.hash = address(SERVICE_ACCOUNTS);
      },
    );
  return (
    <Confirm
      title={t.removeTitle(account.name)}
      action={t.remove}
      danger
      writing={writing}
      onConfirm={remove}
      onClose={onClose}
      onLookAgain={() => {
        onClose();
        void onChange();
      }}
    >
      <p>{t.removeHelp}</p>
    </Confirm>
  );
}
