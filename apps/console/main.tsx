import { render } from "preact";
import { Console } from "./console.tsx";
import "./styles/console.css";

const place = document.querySelector("#console");
if (place !== null) render(<Console />, place);
