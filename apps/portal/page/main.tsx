import { Value } from "@sinclair/typebox/value";
import { render } from "preact";
import { Portal } from "./portal.tsx";
import { Session } from "./portal-session.ts";
import { PortalSettings } from "./settings.ts";
import "./styles/portal.css";

const place = document.querySelector<HTMLElement>("#portal");
if (place !== null) {
  const settings: unknown = JSON.parse(place.dataset.settings ?? "null");
  // Value.Decode would do the same, and add the messages of all schemas to the page.
  if (!Value.Check(PortalSettings, settings)) throw new Error("The settings of the page are not valid.");
  const session = new Session(settings);
  place.textContent = "";
  render(<Portal session={session} />, place);
  void session.start();
}
