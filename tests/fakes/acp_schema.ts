/**
 * Checks records of the acp dialect against the protocol's own published schema. Knows which method has which shape, and that an answer has
 * the shape of its request.
 */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import schema from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };
import type { WireRecord } from "./weir_process.ts";

const NOTIFICATIONS: Readonly<Record<string, string>> = {
  "session/update": "SessionNotification",
  "$/cancel_request": "CancelRequestNotification",
};

const REQUESTS: Readonly<Record<string, string>> = {
  "session/request_permission": "RequestPermissionRequest",
  "fs/read_text_file": "ReadTextFileRequest",
  "fs/write_text_file": "WriteTextFileRequest",
  "elicitation/create": "CreateElicitationRequest",
};

const RESPONSES: Readonly<Record<string, string>> = {
  "initialize": "InitializeResponse",
  "authenticate": "AuthenticateResponse",
  "session/new": "NewSessionResponse",
  "session/load": "LoadSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/close": "CloseSessionResponse",
  "session/prompt": "PromptResponse",
  "session/set_mode": "SetSessionModeResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
};

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");
const checks = new Map<string, ValidateFunction>();

function check(name: string): ValidateFunction {
  let found = checks.get(name);
  if (found === undefined) {
    found = ajv.compile({ $ref: `acp#/$defs/${name}` });
    checks.set(name, found);
  }
  return found;
}

/** What is wrong with a record; `undefined` when nothing is. `methods`: the methods of the client's requests by their ids as JSON. */
export function judgeAcpRecord(
  record: WireRecord,
  methods: ReadonlyMap<string, string>,
): string | undefined {
  if (record.jsonrpc !== "2.0") return 'no "jsonrpc": "2.0"';
  const { method } = record;
  if (typeof method === "string") {
    const hasId = Object.hasOwn(record, "id");
    if (hasId && !(Number.isInteger(record.id) && Number(record.id) >= 1)) return "a strange id";
    const name = (hasId ? REQUESTS : NOTIFICATIONS)[method];
    if (name === undefined) return `${method} is never sent like this`;
    return judge(name, record.params);
  }
  if (!Object.hasOwn(record, "id")) return "an answer without an id";
  if (Object.hasOwn(record, "result") === Object.hasOwn(record, "error")) {
    return "an answer has either a result or an error";
  }
  if (Object.hasOwn(record, "error")) return judge("Error", record.error);
  const name = RESPONSES[methods.get(JSON.stringify(record.id)) ?? ""];
  return name === undefined ? undefined : judge(name, record.result);
}

function judge(name: string, value: unknown): string | undefined {
  const validate = check(name);
  if (validate(value)) return undefined;
  const problems = (validate.errors ?? []).slice(0, 5).map(({ instancePath, message }) =>
    `${instancePath} ${message}`
  );
  return `no ${name}: ${problems.join("; ")}`;
}
