import { forgetInTab, keepInTab, readFromTab } from "@ostiary/lib/page";
import { Type } from "@sinclair/typebox";

const INVITE = "ostiary.portal.invite";

/** Stores the token of an invitation in the tab, where the token survives the sign-in. */
export function keepInvite(token: string): void {
  keepInTab(INVITE, token);
}

export function readInvite(): string | null {
  return readFromTab(INVITE, Type.String());
}

export function forgetInvite(): void {
  forgetInTab(INVITE);
}
