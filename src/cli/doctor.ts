/**
 * `weir doctor`: says what is set up, what is missing and what to do about it. Changes nothing. How an endpoint is asked comes from the
 * caller.
 */

import type { Config } from "../config/config.ts";
import { readConfig } from "../config/config.ts";
import { errorText, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { type ModelChoice, resolveModel } from "../config/resolve_model.ts";
import { isTrusted } from "../config/trust.ts";
import type { CommandIo, CommandPlace } from "./command_io.ts";

/** Milliseconds that an endpoint has for the list of its models. */
const LIST_LIMIT_MS = 2500;

/** One thing that was looked at. */
export interface DoctorCheck {
  readonly name: string;
  /** A `note` is no problem. */
  readonly result: "ok" | "note" | "problem";
  readonly text: string;
  /** What to do. */
  readonly fix?: string;
}

export interface DoctorOptions extends CommandPlace {
  readonly json: boolean;
  /** The ids that the endpoint of a model lists. */
  listModels(choice: ModelChoice, options: { signal: AbortSignal }): Promise<readonly string[]>;
}

/** Writes a line per check, or one JSON object. Returns the exit code: 0 without problems, otherwise 1. */
export async function runDoctor(
  host: Host,
  options: DoctorOptions,
  io: CommandIo,
): Promise<number> {
  const checks: DoctorCheck[] = [];
  const { home, currentFolder, signal } = options;
  let config: Config | undefined;
  try {
    config = await readConfig(host, { home, workspace: currentFolder, trusted: false, signal });
    checks.push(
      config.exists
        ? { name: "settings", result: "ok", text: config.file }
        : { name: "settings", result: "note", text: `no ${config.file}` },
    );
  } catch (error) {
    checks.push(problem("settings", error, { fix: "correct that place in the file" }));
  }
  checks.push(...await checkHome(host, { home, config }));
  if (config) checks.push(...await checkModel(host, { config, options }));
  checks.push(...await checkPrograms(host), await checkTrust(host, options));
  const isWell = checks.every(({ result }) => result !== "problem");
  if (options.json) io.out(JSON.stringify({ ok: isWell, checks }));
  else for (const check of checks) io.out(describe(check));
  return isWell ? 0 : 1;
}

function describe({ name, result, text, fix }: DoctorCheck): string {
  const mark = { ok: "✔", note: "–", problem: "✖" }[result];
  return `${mark} ${name}: ${text}${fix ? `; ${fix}` : ""}`;
}

/** Only what is meant for people; anything else is a defect and goes on. */
function problem(name: string, error: unknown, { fix }: { fix?: string } = {}): DoctorCheck {
  if (!(error instanceof StartError)) throw error;
  return { name, result: "problem", text: error.message, ...(fix ? { fix } : {}) };
}

async function checkHome(
  host: Host,
  { home, config }: { home: string; config: Config | undefined },
): Promise<DoctorCheck[]> {
  const info = await host.files.stat(home);
  if (!info) {
    return [{ name: "home", result: "note", text: `${home} is made when it is first needed` }];
  }
  if (info.kind !== "folder") {
    return [{
      name: "home",
      result: "problem",
      text: `${home} is not a folder`,
      fix: "remove it or set WEIR_HOME",
    }];
  }
  const checks: DoctorCheck[] = [await checkWritable(host, home)];
  if (isOpenToOthers(info.mode)) {
    const text = `other users can look into ${home}`;
    checks.push({ name: "home", result: "problem", text, fix: `run chmod 700 ${home}` });
  }
  const hasKey = Object.values(config?.providers ?? {}).some(({ apiKey }) => apiKey);
  const file = hasKey && config ? await host.files.stat(config.file) : undefined;
  if (config && isOpenToOthers(file?.mode)) {
    const text = `other users can read the key in ${config.file}`;
    checks.push({ name: "settings", result: "problem", text, fix: `run chmod 600 ${config.file}` });
  }
  return checks;
}

function isOpenToOthers(mode: number | undefined): boolean {
  return mode !== undefined && (mode & 0o077) !== 0;
}

async function checkWritable(host: Host, home: string): Promise<DoctorCheck> {
  const probe = host.paths.join(home, `.doctor-${host.pid}`);
  try {
    const file = await host.files.openAppend(probe, { mode: 0o600 });
    await file[Symbol.asyncDispose]();
    await host.files.remove(probe);
    return { name: "home", result: "ok", text: `${home} can be written` };
  } catch (error) {
    const text = `${home} cannot be written: ${errorText(error)}`;
    return { name: "home", result: "problem", text, fix: "change its owner or set WEIR_HOME" };
  }
}

async function checkModel(
  host: Host,
  { config, options }: { config: Config; options: DoctorOptions },
): Promise<DoctorCheck[]> {
  let choice: ModelChoice;
  try {
    choice = resolveModel(config, { host });
  } catch (error) {
    return [problem("model", error)];
  }
  const { provider, id } = choice;
  const model: DoctorCheck = { name: "model", result: "ok", text: `${provider}/${id}` };
  if (choice.api === "demo") return [model];
  const name = "endpoint";
  const address = URL.parse(choice.baseUrl)?.host ?? "the configured address";
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LIST_LIMIT_MS);
  let ids: readonly string[];
  try {
    const signal = AbortSignal.any([options.signal, limit.signal]);
    ids = await options.listModels(choice, { signal });
  } catch (error) {
    options.signal.throwIfAborted();
    const why = limit.signal.aborted
      ? `no answer within ${LIST_LIMIT_MS / 1000} s`
      : errorText(error);
    const text = `${address} does not list its models: ${why}`;
    return [model, {
      name,
      result: "problem",
      text,
      fix: `check baseUrl and the key of ${provider}, or run weir setup`,
    }];
  } finally {
    clearTimeout(timer);
  }
  if (ids.includes(id)) return [model, { name, result: "ok", text: `${address} offers ${id}` }];
  const some = ids.slice(0, 5).join(", ") || "none";
  return [model, {
    name,
    result: "problem",
    text: `${address} does not offer ${id}, but ${some}${ids.length > 5 ? " and others" : ""}`,
    fix: "set model in the settings, or run weir setup",
  }];
}

async function checkPrograms(host: Host): Promise<DoctorCheck[]> {
  if (!host.processes) {
    return [{ name: "bash", result: "note", text: "no program can be started here" }];
  }
  const [bash, rg] = await Promise.all(["bash", "rg"].map((name) => host.processes?.find(name)));
  return [
    bash
      ? { name: "bash", result: "ok", text: bash }
      : { name: "bash", result: "problem", text: "not on PATH", fix: "install bash" },
    rg
      ? { name: "rg", result: "ok", text: rg }
      : { name: "rg", result: "note", text: "not on PATH; searching works without it" },
  ];
}

async function checkTrust(host: Host, options: DoctorOptions): Promise<DoctorCheck> {
  const { home, currentFolder, signal } = options;
  const name = "trust";
  try {
    if (await isTrusted(host, { home, folder: currentFolder, signal })) {
      return { name, result: "ok", text: `${currentFolder} is trusted` };
    }
  } catch (error) {
    return problem(name, error, { fix: "correct that place in the file" });
  }
  const text = `${currentFolder} is not trusted`;
  return { name, result: "note", text, fix: "run weir trust to work here" };
}
