import { NAME_LENGTH_MAX, ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { TextField } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { type Gateway, pathTo } from "../gateway.ts";
import { problemOf, type useForm } from "../parts/use-problems.ts";
import { RoleField, useRoles } from "../roles/roles.tsx";
import { useTexts } from "../texts/texts.ts";

/** A service account that a person describes, with the default role until another one is chosen. */
export function useNewAccount() {
  const roles = useRoles();
  const [name, setName] = useState("");
  const [chosen, setRole] = useState<string | null>(null);
  const role = chosen ?? roles.answer?.service_account_default_role ?? null;
  return {
    ...{ name, setName, role, setRole, roles },
    problems: { name: problemOf(name, { lengthMax: NAME_LENGTH_MAX }) },
    create(gateway: Gateway) {
      const body = { name, ...(role !== null && { role }) };
      const path = pathTo("org", "service-accounts");
      return gateway.send(ServiceAccount, path, { as: "member", method: "POST", body });
    },
  };
}

interface AccountFieldsProps {
  account: ReturnType<typeof useNewAccount>;
  form: Pick<ReturnType<typeof useForm>, "of">;
}

export function AccountFields({ account, form }: AccountFieldsProps) {
  const { name, setName, role, setRole, roles } = account;
  const { members, organizations } = useTexts();
  return (
    <>
      <TextField
        label={members.columns.name}
        value={name}
        help={organizations.nameHelp}
        problem={form.of("name")}
        onInput={setName}
        required
      />
      {role !== null && (
        <RoleField role={role} roles={roles.answer} problem={form.of("role")} onChange={setRole} />
      )}
    </>
  );
}
