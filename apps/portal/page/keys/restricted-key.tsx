import { CreatedApiKey, NAME_LENGTH_MAX, ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { Button, type Result, TextField } from "@ostiary/lib/page";
import { useRef, useState } from "preact/hooks";
import { pathTo } from "../gateway.ts";
import { problemOf } from "../parts/use-problems.ts";
import { SERVICE_ACCOUNTS } from "../portal-address.ts";
import { useAddress, useSession } from "../portal-session.ts";
import { RoleField, SERVICE_ACCOUNTS_LABEL, useRoles } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";
import {
  type Days,
  DaysField,
  expiryOf,
  type KeyDialogProps,
  MEMBER_KEY_ADDRESS,
  NewKeyDialog,
  serviceAccountKeys,
} from "./keys-view.tsx";

interface RestrictedKeyProps {
  /** The label of the button, and the title of the dialog. */
  label: string;
  look?: "main";
  onChange: () => void;
}

/**
 * Lets the person create a service account and its key in one step, and then shows the account. Shows nothing without
 * the right.
 */
export function RestrictedKey({ label, look, onChange }: RestrictedKeyProps) {
  const session = useSession();
  const [open, setOpen] = useState(false);
  if (!session.may(SERVICE_ACCOUNTS_LABEL)) return null;
  return (
    <>
      <Button look={look} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {open && <RestrictedKeyDialog title={label} onClose={() => setOpen(false)} onChange={onChange} />}
    </>
  );
}

type DialogProps = Omit<KeyDialogProps, "address"> & { title: string };

function RestrictedKeyDialog({ title, onClose, onChange }: DialogProps) {
  const { keys: t, serviceAccounts, members, organizations } = useTexts();
  const { gateway } = useSession();
  const address = useAddress();
  const roles = useRoles();
  const [name, setName] = useState("");
  const [chosen, setRole] = useState<string | null>(null);
  const [days, setDays] = useState<Days>("90");
  /**
   * The service account, which a second attempt uses again if only the key failed. Its name and role are final then.
   */
  const account = useRef<ServiceAccount | null>(null);
  const role = chosen ?? roles.value?.service_account_default_role ?? null;
  const post = { method: "POST" } as const;
  const make = async (): Promise<Result<CreatedApiKey>> => {
    if (account.current === null) {
      const body = { name, ...(role !== null && { role }) };
      const made = await gateway.send(ServiceAccount, pathTo("org", "service-accounts"), { ...post, body });
      if (!made.ok) return made;
      account.current = made.value;
    }
    const path = pathTo(...serviceAccountKeys(account.current.id).path);
    return gateway.send(CreatedApiKey, path, { ...post, body: { name, ...expiryOf(days) } });
  };
  return (
    <NewKeyDialog
      title={title}
      action={serviceAccounts.make}
      fields={["name", "role", "expires_in_seconds"]}
      found={{ name: problemOf(name, { lengthMax: NAME_LENGTH_MAX }) }}
      example={MEMBER_KEY_ADDRESS.example}
      make={make}
      onClose={() => {
        onClose();
        if (account.current !== null) {
          location.hash = address(SERVICE_ACCOUNTS, { segments: [account.current.id] });
        }
      }}
      onChange={onChange}
    >
      {(problems) => (
        <>
          <p>{t.restrictedHelp}</p>
          {account.current === null ? (
            <>
              <TextField
                label={members.columns.name}
                help={organizations.nameHelp}
                {...problems.field("name", name, setName)}
                required
              />
              {role !== null && <RoleField roles={roles.value} {...problems.field("role", role, setRole)} />}
            </>
          ) : (
            <p>{t.halfDone(account.current.name, account.current.role)}</p>
          )}
          <DaysField {...problems.field("expires_in_seconds", days, setDays)} />
        </>
      )}
    </NewKeyDialog>
  );
}
