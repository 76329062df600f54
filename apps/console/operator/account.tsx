import { Button } from "@ostiary/lib/page";
import { fragmentOf } from "../address.ts";
import { useOperator, useSession } from "../page-session.ts";

/** Shows the operator's name and role, and a button to sign out. */
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
      <Button onClick={() => session.signOut()}>
        {session.signedInBy.value === "provider" ? "Sign out" : "Forget token"}
      </Button>
    </div>
  );
}
