import type { Propagation } from "@ostiary/lib/contracts/registry-api";
import { fragmentOf } from "../address.ts";
import { counted } from "./shown.tsx";

/** Shows how many gateways serve the change of a write. */
export function Propagated({ propagation }: { propagation: Propagation | undefined }) {
  if (propagation === undefined) return <p>The gateways will load the change shortly.</p>;
  const { gateways, reached, waited_ms, projected } = propagation;
  const after = `after ${(waited_ms / 1_000).toFixed(1)} s`;
  const link = <a href={fragmentOf({ name: "gateways" })}>Look at the gateways</a>;
  if (!projected) {
    return (
      <p>
        The change is recorded, but {after} it is not in the route store. Gateways load changes from the route
        store. {link}.
      </p>
    );
  }
  if (gateways === 0) return <p>No gateway is running. The next gateway to start will serve the change.</p>;
  if (reached < gateways) {
    return (
      <p>
        The change is recorded, but {after} only {reached} of {counted(gateways, "gateway")} serve the change.{" "}
        {link}.
      </p>
    );
  }
  return (
    <p>
      {gateways === 1
        ? "The only running gateway serves the change"
        : `All ${gateways} gateways serve the change`}
      , {after}.
    </p>
  );
}

interface WaitChoiceProps {
  wait: boolean;
  onChange: (wait: boolean) => void;
  /** The end of the label "Wait until …". */
  goal?: string;
}

/** Lets the operator choose whether a write waits until all gateways serve the change. */
export function WaitChoice({ wait, onChange, goal = "every gateway serves the change" }: WaitChoiceProps) {
  return (
    <label class="choice">
      <input type="checkbox" checked={wait} onChange={(event) => onChange(event.currentTarget.checked)} />
      Wait until {goal}, at most 10 s
    </label>
  );
}
