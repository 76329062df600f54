import { NAME_LENGTH_MAX, ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { Answered, Button, DataTable, Fact, type Place, TextField, Time, useAsked } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { MEMBERS, SERVICE_ACCOUNTS } from "../address.ts";
import { pathTo } from "../gateway.ts";
import { KeyList, serviceAccountKeys } from "../keys/keys-view.tsx";
import { RestrictedKey } from "../keys/restricted-key.tsx";
import { useAddress, useSession } from "../page-session.ts";
import { Confirm, ConfirmDeletion } from "../parts/confirm.tsx";
import { SearchedList, useList } from "../parts/lists.tsx";
import { problemOf, useForm } from "../parts/use-problems.ts";
import { SERVICE_ACCOUNTS_LABEL } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";
import { AccountFields, useNewAccount } from "./account-fields.tsx";

export function ServiceAccountsView({ place }: { place: Place }) {
  const [id] = place.segments;
  return id === undefined ? <AccountList /> : <ServiceAccountView key={id} id={id} />;
}

function AccountList() {
  const t = useTexts().serviceAccounts;
  const session = useSession();
  const [creating, setCreating] = useState(false);
  const pages = useList("service_accounts", ServiceAccount, pathTo("org", "service-accounts"));
  return (
    <>
      <p class="lead">{t.lead}</p>
      {session.may(SERVICE_ACCOUNTS_LABEL) && (
        <p class="actions">
          <Button look="main" onClick={() => setCreating(true)}>
            {t.create}
          </Button>
          <RestrictedKey onChange={pages.again} />
        </p>
      )}
      <SearchedList pages={pages} texts={t} textOf={({ name, role, id }) => `${name} ${role ?? ""} ${id}`}>
        {(accounts) => <AccountTable accounts={accounts} />}
      </SearchedList>
      {creating && <CreateDialog onClose={() => setCreating(false)} onChange={pages.again} />}
    </>
  );
}

function AccountTable({ accounts }: { accounts: readonly ServiceAccount[] }) {
  const t = useTexts();
  const address = useAddress();
  const { name, role, status, since } = t.members.columns;
  return (
    <DataTable
      label={t.serviceAccounts.title}
      columns={[name, role, status, since]}
      rows={accounts.map((account) => ({
        key: account.id,
        cells: [
          <a class="name" href={address(SERVICE_ACCOUNTS, { segments: [account.id] })}>
            {account.name}
          </a>,
          account.role ?? t.members.noRole,
          t.members.status[account.status],
          <Time at={account.created_at} />,
        ],
      }))}
    />
  );
}

function CreateDialog({ onClose, onChange }: { onClose: () => void; onChange: () => void }) {
  const { serviceAccounts: t, organizations } = useTexts();
  const session = useSession();
  const address = useAddress();
  const form = useForm();
  const described = useNewAccount();
  const create = () =>
    form.send(
      described.problems,
      () => described.create(session.gateway),
      (account) => {
        session.announce(organizations.created(account.name));
        onClose();
        location.hash = address(SERVICE_ACCOUNTS, { segments: [account.id] });
      },
    );
  return (
    <Confirm
      title={t.create}
      action={t.make}
      form={form}
      fields={["name", "role"]}
      onConfirm={create}
      onClose={onClose}
      onChange={onChange}
    >
      <AccountFields account={described} form={form} />
    </Confirm>
  );
}

/**
 * Shows a service account with its keys. Links to the view of the account's member, which changes the role
 * and the status.
 */
function ServiceAccountView({ id }: { id: string }) {
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
            {t.members.actions.remove}
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
  const { serviceAccounts: t, members, organizations } = useTexts();
  const { gateway } = useSession();
  const form = useForm();
  const [name, setName] = useState(account.name);
  const rename = () =>
    form.send(
      { name: problemOf(name, { lengthMax: NAME_LENGTH_MAX }) },
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
      form={form}
      fields={["name"]}
      onConfirm={rename}
      onClose={onClose}
      onChange={onChange}
    >
      <TextField
        label={members.columns.name}
        value={name}
        help={organizations.nameHelp}
        problem={form.of("name")}
        onInput={setName}
        required
      />
    </Confirm>
  );
}

function RemoveDialog({ account, ...dialog }: DialogProps) {
  const { serviceAccounts: t, members } = useTexts();
  const address = useAddress();
  return (
    <ConfirmDeletion
      {...dialog}
      title={members.questions.remove(account.name)}
      action={members.actions.remove}
      as="member"
      path={pathTo("org", "service-accounts", account.id)}
      done={members.done.remove(account.name)}
      onDeleted={() => {
        location.hash = address(SERVICE_ACCOUNTS);
      }}
    >
      <p>{t.removeHelp}</p>
    </ConfirmDeletion>
  );
}
