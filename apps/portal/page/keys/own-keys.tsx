import { useTexts } from "../texts/texts.ts";
import { KeyList, MEMBER_KEY_ADDRESS, PERSON_KEY_ADDRESS } from "./keys-view.tsx";
import { RestrictedKey } from "./restricted-key.tsx";

/** Shows the person's own keys, which work outside of organizations. */
export function PersonKeysView() {
  return (
    <>
      <p class="lead">{useTexts().keys.leadOfPerson}</p>
      <KeyList address={PERSON_KEY_ADDRESS} manages />
    </>
  );
}

/** Shows the keys of the person's membership in the chosen organization. */
export function MemberKeysView() {
  const t = useTexts().keys;
  return (
    <>
      <p class="lead">{t.leadOfMember}</p>
      <KeyList
        address={MEMBER_KEY_ADDRESS}
        manages
        more={(onChange) => <RestrictedKey label={t.restricted} onChange={onChange} />}
      />
    </>
  );
}
