import { Value } from "@sinclair/typebox/value";
import { render } from "preact";
import { Session } from "./page-session.ts";
import { Portal } from "./portal.tsx";
import { PortalSettings } from "./settings.ts";
import "./styles/portal.css";

const place = document.querySelector<HTMLElement>("#portal");
if (place !== null) {
  const session = new Session(Value.Decode(PortalSettings, JSON.parse(place.dataset.settings ?? "null")));
  place.textContent = "";
  render(<Portal session={session} />, place);
  void session.start();
}
