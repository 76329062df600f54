import type { RolesListing } from "@ostiary/lib/contracts/identity-api";
import { SelectField } from "@ostiary/lib/page";
import { useTexts } from "../texts/texts.ts";
import { Granted } from "./granted.tsx";
import { labelsOf, roleOptions } from "./roles.ts";

interface RoleFieldProps {
  role: string;
  roles: RolesListing | null;
  problem: string | null;
  onChange: (role: string) => void;
}

/** Lets the user choose a role, and shows what the role allows. */
export function RoleField({ role, roles, problem, onChange }: RoleFieldProps) {
  return (
    <>
      <SelectField
        label={useTexts().members.columns.role}
        value={role}
        options={roleOptions(roles, role)}
        problem={problem}
        onChange={onChange}
      />
      <Granted labels={labelsOf(roles, role)} />
    </>
  );
}
