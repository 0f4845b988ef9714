/** Runs a sub-command of the command line with the real surroundings. */

import { findHome } from "../config/config.ts";
import type { Host } from "../host.ts";
import { buildTime, version } from "../version.ts";
import type { CommandIo, CommandPlace } from "./command_io.ts";
import type { CommandLine, RunCommandLine } from "./command_line.ts";
import { HELP_TEXT } from "./help.ts";

/** Returns the exit code. Throws `StartError`. */
export async function runSubcommand(
  command: Exclude<CommandLine, RunCommandLine>,
  options: { host: Host; currentFolder: string; signal: AbortSignal; io: CommandIo },
): Promise<number> {
  const { host, currentFolder, signal, io } = options;
  const place: CommandPlace = { home: findHome(host, { currentFolder }), currentFolder, signal };
  switch (command.kind) {
    case "help":
      io.out(HELP_TEXT);
      return 0;
    case "version":
      io.out(buildTime === undefined ? `weir ${version}` : `weir ${version} (built ${buildTime})`);
      return 0;
    case "setup":
      return await (await import("./setup.ts")).runSetup(host, { ...command, ...place }, io);
    case "trust":
      return await (await import("./trust_command.ts")).runTrustCommand(host, {
        ...command,
        ...place,
      }, io);
    case "sessions":
      return await (await import("./sessions_command.ts")).runSessionsCommand(host, {
        ...command,
        ...place,
      }, io);
    case "doctor": {
      const { openModel } = await import("../start/open_model.ts");
      const { runDoctor } = await import("./doctor.ts");
      return await runDoctor(host, {
        ...command,
        ...place,
        listModels: (choice, { signal }) => openModel(choice).listModels({ signal }),
      }, io);
    }
    case "export":
      return await (await import("./export_command.ts")).runExportCommand(host, {
        ...command,
        ...place,
      }, io);
    case "schema":
      return await (await import("./schema_command.ts")).runSchemaCommand(command, io);
  }
}
