import type { ComponentChildren } from "preact";
import { Notice } from "../notice.tsx";
import type { SignedOut } from "./page-session.ts";

interface SignedOutNoticeProps {
  why: SignedOut;
  texts: Readonly<Partial<Record<SignedOut["reason"], string>>>;
  children?: ComponentChildren;
}

export function SignedOutNotice({ why: { reason, detail = "" }, texts, children }: SignedOutNoticeProps) {
  const isNews = reason === "out" || reason === "ended" || reason === "token";
  return (
    <Notice tone={isNews ? "warn" : "bad"} role={reason === "out" ? "status" : "alert"}>
      <p>{texts[reason] ?? detail}</p>
      {reason === "refused" && detail !== "" && <p class="quiet small">{detail}</p>}
      {children}
    </Notice>
  );
}
