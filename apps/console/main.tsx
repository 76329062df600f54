import { ConsoleSettings } from "@ostiary/lib/contracts/registry-api";
import { Value } from "@sinclair/typebox/value";
import { render } from "preact";
import { Console } from "./console.tsx";
import { Session } from "./console-session.ts";
import "./styles/console.css";

const place = document.querySelector<HTMLElement>("#console");
if (place !== null) {
  const { sign_in } = Value.Decode(ConsoleSettings, JSON.parse(place.dataset.settings ?? "null"));
  const session = new Session(sign_in);
  render(<Console session={session} />, place);
  void session.start();
}
