/** A module for `bun --preload`, with which a process under test copies the empty embedded database. */
import { useEmbeddedTemplate } from "./embedded-template.ts";

useEmbeddedTemplate({ folders: true });
