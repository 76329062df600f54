import { ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import {
  Button,
  DataTable,
  Facts,
  Loaded,
  type PageAddress,
  SearchedList,
  Time,
  useRequest,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { KeyList, serviceAccountKeys } from "../keys/keys-view.tsx";
import { RestrictedKey } from "../keys/restricted-key.tsx";
import { ConfirmDeletion } from "../parts/confirm.tsx";
import { NameForm } from "../parts/name-form.tsx";
import { MEMBERS, SERVICE_ACCOUNTS } from "../portal-address.ts";
import { useAddress, useList, useSession } from "../portal-session.ts";
import { SERVICE_ACCOUNTS_LABEL } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";

export function ServiceAccountsView({ place }: { place: PageAddress }) {
  const [id] = place.segments;
  return id === undefined ? <AccountList /> : <ServiceAccountView key={id} id={id} />;
}

function AccountList() {
  const { serviceAccounts: t, members } = useTexts();
  const { columns } = members;
  const address = useAddress();
  const pages = useList("service_accounts", ServiceAccount, pathTo("org", "service-accounts"));
  return (
    <>
      <p class="lead">{t.lead}</p>
      <p class="actions">
        <RestrictedKey label={t.create} look="main" onChange={pages.reload} />
      </p>
      <SearchedList pages={pages} texts={t} textOf={({ name, role, id }) => `${name} ${role ?? ""} ${id}`}>
        {(accounts) => (
          <DataTable
            label={t.title}
            columns={[columns.name, columns.role, columns.status, columns.since]}
            rows={accounts.map(({ id, name, role, status, created_at }) => ({
              key: id,
              cells: [
                <a class="name" href={address(SERVICE_ACCOUNTS, { segments: [id] })}>
                  {name}
                </a>,
                role ?? members.noRole,
                members.status[status],
                <Time at={created_at} />,
              ],
            }))}
          />
        )}
      </SearchedList>
    </>
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
  const request = useRequest(
    () => session.gateway.send(ServiceAccount, pathTo("org", "service-accounts", id)),
    id,
  );
  return (
    <>
      <p>
        <a href={address(SERVICE_ACCOUNTS)}>{t.back}</a>
      </p>
      <Loaded request={request}>
        {(account) => (
          <>
            <Account account={account} onChange={request.reload} />
            <KeyList address={serviceAccountKeys(id)} manages={session.may(SERVICE_ACCOUNTS_LABEL)} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Account({ account, onChange }: { account: ServiceAccount; onChange: () => Promise<void> }) {
  const { members, serviceAccounts: t } = useTexts();
  const session = useSession();
  const address = useAddress();
  const [removing, setRemoving] = useState(false);
  const path = pathTo("org", "service-accounts", account.id);
  const manages = session.may(SERVICE_ACCOUNTS_LABEL);
  return (
    <section aria-label={account.name}>
      <h2>{account.name}</h2>
      <Facts
        facts={[
          [members.columns.role, account.role ?? members.noRole],
          [members.columns.status, members.status[account.status]],
          [members.columns.since, <Time at={account.created_at} />],
        ]}
      />
      <p class="actions">
        <a href={address(MEMBERS, { segments: [account.member_id] })}>{t.member}</a>
        {manages && (
          <Button look="danger" onClick={() => setRemoving(true)}>
            {members.actions.remove}
          </Button>
        )}
      </p>
      {manages && (
        <NameForm
          name={account.name}
          button={t.rename}
          write={(name) => session.gateway.send(ServiceAccount, path, { method: "PATCH", body: { name } })}
          done={({ name }) => {
            session.announce(t.renamed(name));
            void onChange();
          }}
          onUnknown={onChange}
        />
      )}
      {removing && (
        <ConfirmDeletion
          title={members.questions.remove(account.name)}
          action={members.actions.remove}
          path={path}
          done={members.done.remove(account.name)}
          onClose={() => setRemoving(false)}
          onChange={onChange}
          onDeleted={(isLeft) => {
            if (!isLeft) location.hash = address(SERVICE_ACCOUNTS);
          }}
        >
          <p>{t.removeHelp}</p>
        </ConfirmDeletion>
      )}
    </section>
  );
}
