import { NAME_LENGTH_MAX, ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { Button, DataTable, type Place, TextField, Time, useWrite } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { SERVICE_ACCOUNTS } from "../address.ts";
import { type Gateway, pathTo } from "../gateway.ts";
import { SERVICE_ACCOUNTS_LABEL } from "../labels.ts";
import { useAddress, useSession } from "../page-session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { SearchedList } from "../parts/searched-list.tsx";
import { useList } from "../parts/use-pages.ts";
import { problemOf, useProblems } from "../parts/use-problems.ts";
import { RoleField } from "../roles/role-field.tsx";
import { useRoles } from "../roles/roles.ts";
import { useTexts } from "../texts/texts.ts";
import { ServiceAccountView } from "./service-account-view.tsx";

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
  const { serviceAccounts: t, members } = useTexts();
  const session = useSession();
  const address = useAddress();
  const roles = useRoles();
  const writing = useWrite();
  const [name, setName] = useState("");
  const [chosen, setRole] = useState<string | null>(null);
  const role = chosen ?? roles.answer?.service_account_default_role ?? null;
  const problems = useProblems(writing.failure);
  const create = () =>
    problems.pass({ name: problemOf(name, { lengthMax: NAME_LENGTH_MAX }) }) &&
    writing.write(
      () => createAccount(session.gateway, name, role),
      (account) => {
        session.announce(t.created(account.name));
        onClose();
        location.hash = address(SERVICE_ACCOUNTS, { segments: [account.id] });
      },
    );
  return (
    <Confirm
      title={t.create}
      action={t.make}
      writing={writing}
      problems={problems}
      fields={["name", "role"]}
      onConfirm={() => void create()}
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
      {role !== null && (
        <RoleField role={role} roles={roles.answer} problem={problems.of("role")} onChange={setRole} />
      )}
    </Confirm>
  );
}

function createAccount(gateway: Gateway, name: string, role: string | null) {
  const body = { name, ...(role !== null && { role }) };
  return gateway.send(ServiceAccount, pathTo("org", "service-accounts"), {
    as: "member",
    method: "POST",
    body,
  });
}
