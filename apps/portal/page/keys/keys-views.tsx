import { useTexts } from "../texts/texts.ts";
import { KeyList } from "./key-list.tsx";
import { MEMBER_KEYS, PERSON_KEYS } from "./keys.ts";

/** Shows the person's own keys, which work outside of organizations. */
export function PersonKeysView() {
  const t = useTexts().keys;
  return (
    <>
      <p class="lead">{t.leadOfPerson}</p>
      <KeyList address={PERSON_KEYS} manages />
    </>
  );
}

/** Shows the keys of the person's membership in the chosen organization. */
export function MemberKeysView() {
  const t = useTexts().keys;
  return (
    <>
      <p class="lead">{t.leadOfMember}</p>
      <KeyList address={MEMBER_KEYS} manages />
    </>
  );
}
