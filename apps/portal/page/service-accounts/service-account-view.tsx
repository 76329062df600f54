import { NAME_LENGTH_MAX, ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { Answered, Button, Fact, TextField, Time, useAsked, useWrite } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { MEMBERS, SERVICE_ACCOUNTS } from "../address.ts";
import { pathTo } from "../gateway.ts";
import { KeyList } from "../keys/key-list.tsx";
import { serviceAccountKeys } from "../keys/keys.ts";
import { SERVICE_ACCOUNTS_LABEL } from "../labels.ts";
import { useAddress, useSession } from "../page-session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { ConfirmDeletion } from "../parts/confirm-deletion.tsx";
import { problemOf, useProblems } from "../parts/use-problems.ts";
import { useTexts } from "../texts/texts.ts";

/**
 * Shows a service account with its keys. Links to the view of the account's member, which changes the role
 * and the status.
 */
export function ServiceAccountView({ id }: { id: string }) {
  const t = useTexts().serviceAccounts;
  const session = useSession();
  const address = useAddress();
  const asked = useAsked(
    () => session.gateway.send(ServiceAccount, pathTo("org", "service-accounts", id), { as: "member" }),
    id,
  );
  return (
    <>
      <p>
        <a href={address(SERVICE_ACCOUNTS)}>{t.back}</a>
      </p>
      <Answered asked={asked}>
        {(account) => (
          <>
            <Account account={account} onChange={asked.again} />
            <KeyList address={serviceAccountKeys(id)} manages={session.may(SERVICE_ACCOUNTS_LABEL)} />
          </>
        )}
      </Answered>
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
        <Fact name={t.members.columns.role}>{account.role ?? t.members.noRole}</Fact>
        <Fact name={t.members.columns.status}>{t.members.status[account.status]}</Fact>
        <Fact name={t.members.columns.since}>
          <Time at={account.created_at} />
        </Fact>
      </dl>
      <p>
        <a href={address(MEMBERS, { segments: [account.member_id] })}>{t.serviceAccounts.member}</a>
      </p>
      {session.may(SERVICE_ACCOUNTS_LABEL) && (
        <div class="actions">
          <Button onClick={() => setOpen("rename")}>{t.serviceAccounts.rename}</Button>
          <Button look="danger" onClick={() => setOpen("remove")}>
            {t.serviceAccounts.remove}
          </Button>
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
  const problems = useProblems(writing.failure);
  const rename = () =>
    problems.pass({ name: problemOf(name, { lengthMax: NAME_LENGTH_MAX }) }) &&
    writing.write(
      () =>
        gateway.send(ServiceAccount, pathTo("org", "service-accounts", account.id), {
          as: "member",
          method: "PATCH",
          body: { name },
        }),
      () => {
        onClose();
        void onChange();
      },
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
      onChange={onChange}
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

function RemoveDialog({ account, ...dialog }: DialogProps) {
  const t = useTexts().serviceAccounts;
  const address = useAddress();
  return (
    <ConfirmDeletion
      {...dialog}
      title={t.removeTitle(account.name)}
      action={t.remove}
      as="member"
      path={pathTo("org", "service-accounts", account.id)}
      done={t.removed(account.name)}
      onDeleted={() => {
        location.hash = address(SERVICE_ACCOUNTS);
      }}
    >
      <p>{t.removeHelp}</p>
    </ConfirmDeletion>
  );
}
