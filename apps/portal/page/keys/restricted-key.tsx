import { CreatedApiKey, type ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { type Answer, Button } from "@ostiary/lib/page";
import { useRef, useState } from "preact/hooks";
import { type Gateway, pathTo } from "../gateway.ts";
import { useSession } from "../page-session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { useForm } from "../parts/use-problems.ts";
import { SERVICE_ACCOUNTS_LABEL } from "../roles/roles.tsx";
import { AccountFields, useNewAccount } from "../service-accounts/account-fields.tsx";
import { useTexts } from "../texts/texts.ts";
import { type Days, DaysField, lifeOf, NewKey, serviceAccountKeys } from "./keys-view.tsx";

/** Lets the person create a key that may do only what a role allows. Shows nothing without the right. */
export function RestrictedKey({ onChange }: { onChange: () => void }) {
  const t = useTexts().keys;
  const session = useSession();
  const [open, setOpen] = useState(false);
  if (!session.may(SERVICE_ACCOUNTS_LABEL)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t.restricted}</Button>
      {open && <RestrictedKeyDialog onClose={() => setOpen(false)} onChange={onChange} />}
    </>
  );
}

/** Creates a service account with a role, and its key, in one step. */
function RestrictedKeyDialog({ onClose, onChange }: { onClose: () => void; onChange: () => void }) {
  const { keys: t, serviceAccounts } = useTexts();
  const { gateway } = useSession();
  const form = useForm();
  const described = useNewAccount();
  const [days, setDays] = useState<Days>("90");
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  /** The service account, which a second attempt uses again if only the key failed. Its name and role are final then. */
  const account = useRef<ServiceAccount | null>(null);
  const create = async (): Promise<Answer<CreatedApiKey>> => {
    if (account.current === null) {
      const made = await described.create(gateway);
      if (!made.ok) return made;
      account.current = made.value;
    }
    return createKey(gateway, account.current, days);
  };
  if (created !== null && account.current !== null) {
    const address = serviceAccountKeys(account.current.id);
    return <NewKey created={created} address={address} onClose={onClose} onChange={onChange} />;
  }
  return (
    <Confirm
      title={t.restricted}
      action={serviceAccounts.make}
      form={form}
      fields={["name", "role", "expires_in_seconds"]}
      onConfirm={() => form.send(described.problems, create, setCreated)}
      onClose={onClose}
      onChange={onChange}
    >
      <p>{t.restrictedHelp}</p>
      {account.current === null ? (
        <AccountFields account={described} form={form} />
      ) : (
        <p>{t.halfDone(account.current.name, account.current.role)}</p>
      )}
      <DaysField days={days} problem={form.of("expires_in_seconds")} onChange={setDays} />
      {form.failure?.outcomeUnknown === true && <p>{t.unknownHelp}</p>}
    </Confirm>
  );
}

function createKey(gateway: Gateway, { id, name }: ServiceAccount, days: Days) {
  const path = pathTo("org", "service-accounts", id, "api-keys");
  const body = { name, ...lifeOf(days) };
  return gateway.send(CreatedApiKey, path, { as: "member", method: "POST", body });
}
