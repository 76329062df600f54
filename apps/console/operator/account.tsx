import { fragmentOf } from "../address.ts";
import { useOperator, useSession } from "../session.ts";

/** Shows who is signed in with which role, and the way out. */
export function Account() {
  const session = useSession();
  const { name, role } = useOperator();
  const isShown = session.view.value?.name === "operator";
  return (
    <div class="account">
      <p class="quiet small">
        Signed in as{" "}
        <a href={fragmentOf({ name: "operator" })} aria-current={isShown ? "page" : undefined}>
          {name}
        </a>
        , {role}
      </p>
      <button type="button" class="button" onClick={() => session.signOut()}>
        {session.signedInBy.value === "provider" ? "Sign out" : "Forget token"}
      </button>
    </div>
  );
}
