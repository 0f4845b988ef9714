/**
 * Weir: a coding agent that another program embeds. Run directly, this module is the program; imported, it is the library.
 *
 * @module
 */

export { CommandRefusedError, ConnectionEndedError } from "./src/client/client_error.ts";
export { WeirClient } from "./src/client/weir_client.ts";
export { createSession } from "./src/library/create_session.ts";
export { serve } from "./src/library/serve.ts";
export { createMemoryHost } from "./src/memory/memory_host.ts";
export { createDemoModel } from "./src/models/demo.ts";
export { createOpenaiModel } from "./src/models/openai.ts";
export { THINKING_LEVELS } from "./src/agent/model.ts";
export { errorOutcome, textOutcome } from "./src/agent/tool.ts";
export { HostError, ModelError, RequestError, StartError } from "./src/errors.ts";
export { version } from "./src/version.ts";
export type {
  CallView,
  Extension,
  ExtensionApi,
  ExtensionTool,
  JsonRecord,
  MaybePromise,
  RequestAddition,
  RequestView,
  ResultView,
  SessionView,
  ToolAnswer,
  ToolCallHook,
  ToolRunContext,
} from "./src/extensions/extension_api.ts";

export type { AgentEvent, MessageOrigin, NotRunCause } from "./src/agent/agent_event.ts";
export type {
  AssistantMessage,
  ImageBlock,
  JsonObject,
  JsonValue,
  Message,
  Price,
  Receipt,
  StopReason,
  TextBlock,
  ThinkingBlock,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./src/agent/message.ts";
export type {
  Model,
  ModelEvent,
  ModelInfo,
  ModelLack,
  ModelReplyEnd,
  ModelRequest,
  ModelSink,
  ThinkingLevel,
  ToolSpec,
} from "./src/agent/model.ts";
export type {
  CommandEnd,
  CommandOutput,
  CommandReport,
  CommandReportEnd,
  ParsedArguments,
  RunningCommand,
  Tool,
  ToolContext,
  ToolJobs,
  ToolOutcome,
  ToolSnapshot,
} from "./src/agent/tool.ts";
export type * from "./src/client/circle_records.ts";
export type {
  ClientStartOptions,
  CommandData,
  ConnectOptions,
  ServerStreams,
} from "./src/client/client_options.ts";
export type { ProgramExit, ProgramStart } from "./src/client/client_process.ts";
export type {
  HostErrorCode,
  ModelErrorKind,
  RequestErrorCode,
  StartErrorFacts,
  StartErrorKind,
} from "./src/errors.ts";
export type {
  AppendFile,
  FileAccess,
  FileInfo,
  FolderEntry,
  Host,
  HostFiles,
  HostPaths,
  HostProcess,
  HostProcesses,
  LimitedUse,
  ProcessEnd,
  StartOptions,
} from "./src/host.ts";
export type { ApprovalRequest, CallAsker } from "./src/session/client_help.ts";
export type { CompactionReport, EndCause, HubEnd, StoredMessage } from "./src/session/command.ts";
export type {
  CompactionPhase,
  CompactionTrigger,
  QueueDepths,
  SessionEvent,
  SubagentEvent,
  SubagentTags,
  SummaryRetryPhase,
  TurnOpening,
  TurnOutcome,
  WaitingTexts,
} from "./src/session/event.ts";
export type { JobRecord, JobStatus } from "./src/session/job_record.ts";
export type { AgentSession, TurnEnd } from "./src/library/agent_session.ts";
export type { AgentOptions } from "./src/library/open_agent.ts";
export type { ClientStreams, ServeOptions } from "./src/library/serve_options.ts";
export type { MemoryHostOptions } from "./src/memory/memory_host.ts";
export type { OpenaiModelOptions } from "./src/models/openai.ts";
export type { EventReader } from "./src/wire/event_channel.ts";

if (import.meta.main) {
  const { main } = await import("./src/main.ts");
  await main();
}
