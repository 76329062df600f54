import { Type } from "@sinclair/typebox";
import { trimmed } from "../fields.ts";
import { displayNameField } from "../users/user.ts";
import type { MemberChange } from "./change.ts";
import { MemberStatus } from "./member.ts";

/** What may be changed at either address of a member. */
export const memberChangeFields = {
  status: Type.Optional(MemberStatus),
  display_name: Type.Optional(displayNameField),
};

/** A body of these fields, as the change that it asks for. */
export function readChange({ display_name, ...rest }: MemberChange): MemberChange {
  if (display_name === undefined) return rest;
  return { ...rest, display_name: display_name === null ? null : trimmed(display_name) };
}
