import type { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import { Button, Fact } from "@ostiary/lib/page";
import { useOperator, useSession } from "../page-session.ts";

const ROLES: Record<CurrentOperator["role"], string> = {
  reader: "A reader sees everything and can review documents, but cannot change services.",
  publisher: "A publisher sees everything and can change the services below, within these bounds.",
  admin: "An admin sees everything and can change every service.",
};

/** Shows what the operator who is signed in may do. */
export function OperatorView() {
  const session = useSession();
  const { name, role, services, paths, urls } = useOperator();
  const read = async () => {
    await session.refresh();
    if (session.catalog.value.failure === null) session.announce("Your role was reloaded.");
  };
  return (
    <>
      <div class="lead">
        <dl class="facts">
          <Fact name="Operator">{name}</Fact>
          <Fact name="Role">{role}</Fact>
        </dl>
        <Button onClick={read}>Reload</Button>
      </div>
      <p>{ROLES[role]}</p>
      {role === "publisher" && (
        <>
          <Bounds title="Services" all="Every service." list={services} />
          <Bounds title="Paths" all="Every path." list={paths} />
          <Bounds
            title="Addresses"
            all="Every address."
            none="None. The services keep the addresses that an admin has set."
            list={urls}
          />
          <p class="quiet small">
            In a name, <code>*</code> stands for any characters. A path includes all paths below it. In an
            address, <code>*</code> stands for one label of the host or for the port.
          </p>
        </>
      )}
      <p class="quiet">
        Roles come from the operators file of the registry. Choose <b>Reload</b> to see a changed role.
      </p>
    </>
  );
}

interface BoundsProps {
  title: string;
  /** The text for a null `list`, which means that the operator is not restricted. */
  all: string;
  /** The text for an empty `list`. */
  none?: string;
  list: readonly string[] | null;
}

function Bounds({ title, all, none, list }: BoundsProps) {
  const text = list === null ? all : list.length === 0 ? none : undefined;
  return (
    <section>
      <h2>{title}</h2>
      {text !== undefined ? (
        <p>{text}</p>
      ) : (
        <ul class="problems" aria-label={title}>
          {list?.map((each) => (
            <li key={each}>
              <code>{each}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
