/**
 * The records of the circle dialect as types. Made by scripts/make_types.ts from the schemas of the dialect; what is changed here is lost.
 */

/** The command `abort`. Fields that are not named here are ignored. */
export type AbortCommand = {
  readonly type: "abort";
  readonly id?: unknown;
};

/** `abort` has been carried out. */
export type AbortResponse = {
  readonly type: "response";
  readonly command: "abort";
  readonly success: true;
  readonly id?: unknown;
};

/** Nothing more runs on its own. */
export type AgentSettledEvent = {
  readonly type: "agent_settled";
};

/** A complete reply of the model. */
export type AssistantEvent = {
  readonly type: "assistant";
  readonly id: string;
  readonly text: string;
  readonly tool_calls: readonly CallRecord[];
  readonly usage: TokenCounts;
};

/** An image of a message; `data` is base64, `sha256` hexadecimal. */
export type Attachment = {
  readonly kind: "image";
  readonly mime_type: string;
  readonly filename: string;
  readonly data: string;
  readonly sha256: string;
};

/** The command `background`. Fields that are not named here are ignored. */
export type BackgroundCommand = {
  readonly type: "background";
  readonly id?: unknown;
};

/** `background` has been carried out. */
export type BackgroundResponse = {
  readonly type: "response";
  readonly command: "background";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly moved: number;
  };
};

/** A call that the model wants made. The last two keys are there when its arguments were not a JSON object. */
export type CallRecord = {
  readonly id: string;
  readonly name: string;
  readonly args: { readonly [key: string]: unknown };
  readonly raw_args?: string;
  readonly argument_error?: string;
};

/** A line that a client writes. */
export type CircleCommand =
  | PromptCommand
  | SteerCommand
  | FollowUpCommand
  | AbortCommand
  | ClearQueueCommand
  | NewSessionCommand
  | GetStateCommand
  | GetMessagesCommand
  | GetNativeMessagesCommand
  | GetLastAssistantTextCommand
  | GetSessionStatsCommand
  | SetSessionNameCommand
  | GetAvailableModelsCommand
  | SetModelCommand
  | SetThinkingLevelCommand
  | ExportHtmlCommand
  | ListJobsCommand
  | GetJobsCommand
  | StopJobCommand
  | BackgroundCommand
  | SetEventDetailCommand;

/** A line that tells what happens. */
export type CircleEvent =
  | OneShotEvent
  | TurnStartEvent
  | AssistantEvent
  | ToolResultEvent
  | NotRunEvent
  | SteerEvent
  | JobEvent
  | CompactionEvent
  | SubagentRecord
  | TurnEndEvent
  | TurnAbortedEvent
  | ErrorEvent
  | AgentSettledEvent
  | JobsStoppedEvent
  | MessageDeltaEvent
  | ThinkingDeltaEvent
  | ToolStartEvent
  | ToolOutputEvent;

/** The one line that answers a command. */
export type CircleResponse =
  | PromptResponse
  | SteerResponse
  | FollowUpResponse
  | AbortResponse
  | ClearQueueResponse
  | NewSessionResponse
  | GetStateResponse
  | GetMessagesResponse
  | GetNativeMessagesResponse
  | GetLastAssistantTextResponse
  | GetSessionStatsResponse
  | SetSessionNameResponse
  | GetAvailableModelsResponse
  | SetModelResponse
  | SetThinkingLevelResponse
  | ExportHtmlResponse
  | ListJobsResponse
  | GetJobsResponse
  | StopJobResponse
  | BackgroundResponse
  | SetEventDetailResponse
  | RefusalResponse;

/** The command `clear_queue`. Fields that are not named here are ignored. */
export type ClearQueueCommand = {
  readonly type: "clear_queue";
  readonly id?: unknown;
};

/** `clear_queue` has been carried out. */
export type ClearQueueResponse = {
  readonly type: "response";
  readonly command: "clear_queue";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly steering: readonly string[];
    readonly followUp: readonly string[];
  };
};

/** How far it is with a summary that takes the place of the older part of the conversation. */
export type CompactionEvent =
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "start";
    readonly tokens_before: number;
    readonly summarized: number;
    readonly kept: number;
  }
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "saving";
  }
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "saved";
    readonly file: string;
  }
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "summarizing";
  }
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "chunks";
    readonly chunks: number;
  }
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "summarized";
    readonly chunks: number;
  }
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "done";
    readonly tokens_before: number;
    readonly summarized: number;
    readonly kept: number;
    readonly tokens_after: number;
    readonly file: string;
    readonly seconds: number;
  }
  | {
    readonly type: "compaction";
    readonly sessionId: string;
    readonly trigger: "auto" | "overflow";
    readonly phase: "error";
    readonly message: string;
  };

/** What one model call cost, in US dollars; `rates` are per million tokens. */
export type CostRecord = {
  readonly model: string;
  readonly currency: "USD" | "";
  readonly amount: unknown;
  readonly tokens: {
    readonly input_miss: number;
    readonly input_hit: number;
    readonly input_write: number;
    readonly input_write_1h: number;
    readonly output: number;
  };
  readonly rates: { readonly [key: string]: number };
  readonly provider: string;
};

/** What became of a message: a turn started with it, or it waits for the running one. */
export type Delivery = {
  readonly disposition: "started" | "queued";
};

/** The turn failed. */
export type ErrorEvent = {
  readonly type: "error";
  readonly message: string;
};

/** The command `export_html`. Fields that are not named here are ignored. */
export type ExportHtmlCommand = {
  readonly type: "export_html";
  readonly id?: unknown;
  readonly outputPath?: unknown;
};

/** `export_html` has been carried out. */
export type ExportHtmlResponse = {
  readonly type: "response";
  readonly command: "export_html";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly path: string;
  };
};

/** The command `follow_up`. Fields that are not named here are ignored. */
export type FollowUpCommand = {
  readonly type: "follow_up";
  readonly id?: unknown;
  readonly message: string;
};

/** `follow_up` has been carried out. */
export type FollowUpResponse = {
  readonly type: "response";
  readonly command: "follow_up";
  readonly success: true;
  readonly id?: unknown;
  readonly data: Delivery;
};

/** The command `get_available_models`. Fields that are not named here are ignored. */
export type GetAvailableModelsCommand = {
  readonly type: "get_available_models";
  readonly id?: unknown;
};

/** `get_available_models` has been carried out. */
export type GetAvailableModelsResponse = {
  readonly type: "response";
  readonly command: "get_available_models";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly models: readonly string[];
  };
};

/** The command `get_jobs`. Fields that are not named here are ignored. */
export type GetJobsCommand = {
  readonly type: "get_jobs";
  readonly id?: unknown;
};

/** `get_jobs` has been carried out. */
export type GetJobsResponse = {
  readonly type: "response";
  readonly command: "get_jobs";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly jobs: readonly Job[];
  };
};

/** The command `get_last_assistant_text`. Fields that are not named here are ignored. */
export type GetLastAssistantTextCommand = {
  readonly type: "get_last_assistant_text";
  readonly id?: unknown;
};

/** `get_last_assistant_text` has been carried out. */
export type GetLastAssistantTextResponse = {
  readonly type: "response";
  readonly command: "get_last_assistant_text";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly text: string;
  };
};

/** The command `get_messages`. Fields that are not named here are ignored. */
export type GetMessagesCommand = {
  readonly type: "get_messages";
  readonly id?: unknown;
};

/** `get_messages` has been carried out. */
export type GetMessagesResponse = {
  readonly type: "response";
  readonly command: "get_messages";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly messages: readonly LangchainMessage[];
  };
};

/** The command `get_native_messages`. Fields that are not named here are ignored. */
export type GetNativeMessagesCommand = {
  readonly type: "get_native_messages";
  readonly id?: unknown;
};

/** `get_native_messages` has been carried out. */
export type GetNativeMessagesResponse = {
  readonly type: "response";
  readonly command: "get_native_messages";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly messages: readonly NativeMessage[];
  };
};

/** The command `get_session_stats`. Fields that are not named here are ignored. */
export type GetSessionStatsCommand = {
  readonly type: "get_session_stats";
  readonly id?: unknown;
};

/** `get_session_stats` has been carried out. */
export type GetSessionStatsResponse = {
  readonly type: "response";
  readonly command: "get_session_stats";
  readonly success: true;
  readonly id?: unknown;
  readonly data: SessionStatistics;
};

/** The command `get_state`. Fields that are not named here are ignored. */
export type GetStateCommand = {
  readonly type: "get_state";
  readonly id?: unknown;
};

/** `get_state` has been carried out. */
export type GetStateResponse = {
  readonly type: "response";
  readonly command: "get_state";
  readonly success: true;
  readonly id?: unknown;
  readonly data: SessionState;
};

/** A background job; `elapsed` is in seconds, `output` the path of its log. */
export type Job = {
  readonly id: string;
  readonly kind: "shell" | "adopted" | "agent";
  readonly title: string;
  readonly status: "running" | "done" | "failed" | "stopped";
  readonly reason:
    | ""
    | "exit"
    | "timeout"
    | "output limit"
    | "output unavailable"
    | "spawn error"
    | "agent error"
    | "user"
    | "model"
    | "parent ended"
    | "cancelled";
  readonly exitCode: number | null;
  readonly startedBy: "model" | "user";
  readonly elapsed: number;
  readonly output: string;
  readonly sessionId: string;
};

/** A background job appeared, changed or ended. */
export type JobEvent = {
  readonly type: "job";
  readonly event: "started" | "updated" | "ended";
  readonly job: Job;
};

/** The last line of the process: how many jobs had to be stopped. */
export type JobsStoppedEvent = {
  readonly type: "jobs_stopped";
  readonly count: number;
};

/** The text of a message, or its parts when it has images. */
export type LangchainContent =
  | string
  | readonly (
    | {
      readonly type: "text";
      readonly text: string;
    }
    | {
      readonly type: "image";
      readonly base64: string;
      readonly mime_type: string;
      readonly filename: string;
    }
  )[];

/** A message in the shape of LangChain's message dicts. */
export type LangchainMessage =
  | {
    readonly type: "human";
    readonly data: {
      readonly content: LangchainContent;
      readonly additional_kwargs: {
        readonly reasoning_content?: string;
        readonly circle_internal?: "job_notice";
        readonly circle_shown?: string;
      };
      readonly response_metadata: { readonly [key: string]: never };
      readonly name: unknown;
      readonly id: string;
      readonly type: "human";
    };
  }
  | {
    readonly type: "system";
    readonly data: {
      readonly content: LangchainContent;
      readonly additional_kwargs: {
        readonly reasoning_content?: string;
        readonly circle_internal?: "job_notice";
        readonly circle_shown?: string;
      };
      readonly response_metadata: { readonly [key: string]: never };
      readonly name: unknown;
      readonly id: string;
      readonly type: "system";
    };
  }
  | {
    readonly type: "ai";
    readonly data: {
      readonly content: LangchainContent;
      readonly additional_kwargs: {
        readonly reasoning_content?: string;
        readonly circle_internal?: "job_notice";
        readonly circle_shown?: string;
      };
      readonly response_metadata: { readonly [key: string]: never };
      readonly name: unknown;
      readonly id: string;
      readonly type: "ai";
      readonly tool_calls: readonly {
        readonly name: string;
        readonly args: { readonly [key: string]: unknown };
        readonly id: string;
        readonly type: "tool_call";
      }[];
      readonly invalid_tool_calls: readonly unknown[];
      readonly usage_metadata:
        | {
          readonly input_tokens: number;
          readonly output_tokens: number;
          readonly total_tokens: number;
          readonly input_token_details: {
            readonly cache_read: number;
            readonly cache_creation?: number;
          };
        }
        | null;
    };
  }
  | {
    readonly type: "tool";
    readonly data: {
      readonly content: LangchainContent;
      readonly additional_kwargs: {
        readonly reasoning_content?: string;
        readonly circle_internal?: "job_notice";
        readonly circle_shown?: string;
      };
      readonly response_metadata: { readonly [key: string]: never };
      readonly name: unknown;
      readonly id: string;
      readonly type: "tool";
      readonly tool_call_id: string;
      readonly artifact: null;
      readonly status: "success" | "error";
    };
  };

/** The command `list_jobs`. Fields that are not named here are ignored. */
export type ListJobsCommand = {
  readonly type: "list_jobs";
  readonly id?: unknown;
};

/** `list_jobs` has been carried out. */
export type ListJobsResponse = {
  readonly type: "response";
  readonly command: "list_jobs";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly jobs: readonly Job[];
  };
};

/** Text of a reply, as it comes. In full detail only. */
export type MessageDeltaEvent = {
  readonly type: "message_delta";
  readonly id: string;
  readonly delta: string;
};

/** A message as Weir keeps it; a key that has nothing to say is absent. */
export type NativeMessage = {
  readonly id: string;
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly content: string;
  readonly display?: string;
  readonly attachments?: readonly Attachment[];
  readonly internal?: "job_notice";
  readonly thinking?: string;
  readonly tool_calls?: readonly CallRecord[];
  readonly model?: string;
  readonly request_model?: string;
  readonly usage?: TokenCounts;
  readonly cost?: CostRecord;
  readonly truncated?: true;
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly status?: "success" | "error";
  readonly recoverable?: true;
};

/** The command `new_session`. Fields that are not named here are ignored. */
export type NewSessionCommand = {
  readonly type: "new_session";
  readonly id?: unknown;
};

/** `new_session` has been carried out. */
export type NewSessionResponse = {
  readonly type: "response";
  readonly command: "new_session";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly cancelled: false;
    readonly sessionId: string;
  };
};

/** A call that would have had to ask and is not run. */
export type NotRunEvent = {
  readonly type: "not_run";
  readonly name: string;
  readonly args: { readonly [key: string]: unknown };
  readonly reason: string;
};

/** First line of the one-shot JSON mode. */
export type OneShotEvent = {
  readonly type: "session";
  readonly id: string;
  readonly workspace: string;
  readonly model: string;
};

/** The command `prompt`. Fields that are not named here are ignored. */
export type PromptCommand = {
  readonly type: "prompt";
  readonly id?: unknown;
  readonly message: string;
  readonly streamingBehavior?: unknown;
};

/** `prompt` has been carried out. */
export type PromptResponse = {
  readonly type: "response";
  readonly command: "prompt";
  readonly success: true;
  readonly id?: unknown;
  readonly data: Delivery;
};

/** A command that was not carried out; `command` is `parse` for a line that is none. */
export type RefusalResponse = {
  readonly type: "response";
  readonly command: string;
  readonly success: false;
  readonly id?: unknown;
  readonly error: string;
};

/** What a session is doing. */
export type SessionState = {
  readonly model: string;
  readonly thinkingLevel: string;
  readonly isStreaming: boolean;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly messageCount: number;
  readonly pendingMessageCount: number;
};

/** Counts and sums over a whole conversation. */
export type SessionStatistics = {
  readonly sessionId: string;
  readonly userMessages: number;
  readonly assistantMessages: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly totalMessages: number;
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly total: number;
  };
  readonly costs: {
    readonly amounts: {
      readonly USD?: number;
    };
    readonly calls: number;
    readonly unpriced_calls: number;
  };
};

/** The command `set_event_detail`. Fields that are not named here are ignored. */
export type SetEventDetailCommand = {
  readonly type: "set_event_detail";
  readonly id?: unknown;
  readonly detail: "standard" | "full";
};

/** `set_event_detail` has been carried out. */
export type SetEventDetailResponse = {
  readonly type: "response";
  readonly command: "set_event_detail";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly detail: "standard" | "full";
  };
};

/** The command `set_model`. Fields that are not named here are ignored. */
export type SetModelCommand = {
  readonly type: "set_model";
  readonly id?: unknown;
  readonly modelId?: string;
  readonly model?: string;
};

/** `set_model` has been carried out. */
export type SetModelResponse = {
  readonly type: "response";
  readonly command: "set_model";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly model: string;
  };
};

/** The command `set_session_name`. Fields that are not named here are ignored. */
export type SetSessionNameCommand = {
  readonly type: "set_session_name";
  readonly id?: unknown;
  readonly name: string;
};

/** `set_session_name` has been carried out. */
export type SetSessionNameResponse = {
  readonly type: "response";
  readonly command: "set_session_name";
  readonly success: true;
  readonly id?: unknown;
};

/** The command `set_thinking_level`. Fields that are not named here are ignored. */
export type SetThinkingLevelCommand = {
  readonly type: "set_thinking_level";
  readonly id?: unknown;
  readonly level: string;
};

/** `set_thinking_level` has been carried out. */
export type SetThinkingLevelResponse = {
  readonly type: "response";
  readonly command: "set_thinking_level";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly thinkingLevel: string;
  };
};

/** The command `steer`. Fields that are not named here are ignored. */
export type SteerCommand = {
  readonly type: "steer";
  readonly id?: unknown;
  readonly message: string;
};

/** The model is about to read a steering message. */
export type SteerEvent = {
  readonly type: "steer";
  readonly message: string;
};

/** `steer` has been carried out. */
export type SteerResponse = {
  readonly type: "response";
  readonly command: "steer";
  readonly success: true;
  readonly id?: unknown;
  readonly data: Delivery;
};

/** The command `stop_job`. Fields that are not named here are ignored. */
export type StopJobCommand = {
  readonly type: "stop_job";
  readonly id?: unknown;
  readonly jobId?: string;
  readonly job_id?: string;
};

/** `stop_job` has been carried out. */
export type StopJobResponse = {
  readonly type: "response";
  readonly command: "stop_job";
  readonly success: true;
  readonly id?: unknown;
  readonly data: {
    readonly job: Job;
  };
};

/** Which subagent an event is of. */
export type SubagentLabels = {
  readonly subagent: string;
  readonly name: "general" | "explore";
  readonly job_id?: string;
};

/** What a subagent does. */
export type SubagentRecord =
  | {
    readonly type: "subagent_event";
    readonly event: "run_start";
    readonly message: string;
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "llm_start";
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "llm_token";
    readonly text: string;
    readonly thinking: boolean;
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "llm_end";
    readonly message: NativeMessage;
    readonly usage: TokenCounts;
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "tool_call";
    readonly id: string;
    readonly name: string;
    readonly args: { readonly [key: string]: unknown };
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "tool_start";
    readonly id: string;
    readonly name: string;
    readonly args: { readonly [key: string]: unknown };
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "tool_waiting";
    readonly id: string;
    readonly name: string;
    readonly args: { readonly [key: string]: unknown };
    readonly reason: string;
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "tool_result";
    readonly id: string;
    readonly name: string;
    readonly status: "success" | "error";
    readonly output: string;
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "tool_end";
    readonly id: string;
    readonly status: "success" | "error";
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "todo_list";
    readonly todos: readonly unknown[];
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "run_end";
    readonly answer: string;
    readonly usage: TokenCounts;
    readonly tags: SubagentLabels;
  }
  | {
    readonly type: "subagent_event";
    readonly event: "run_error";
    readonly message: string;
    readonly interrupted: boolean;
    readonly tags: SubagentLabels;
  };

/** Thinking, as it comes. In full detail only. */
export type ThinkingDeltaEvent = {
  readonly type: "thinking_delta";
  readonly id: string;
  readonly delta: string;
};

/** Tokens as the endpoint counted them; what came from the cache is part of the input. */
export type TokenCounts = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens?: number;
};

/** What a command writes, as it comes. In full detail only. */
export type ToolOutputEvent = {
  readonly type: "tool_output";
  readonly id: string;
  readonly delta: string;
};

/** What came of a call. */
export type ToolResultEvent = {
  readonly type: "tool_result";
  readonly id: string;
  readonly name: string;
  readonly status: "success" | "error";
  readonly output: string;
};

/** A call really begins to run. In full detail only. */
export type ToolStartEvent = {
  readonly type: "tool_start";
  readonly id: string;
  readonly name: string;
  readonly args: { readonly [key: string]: unknown };
};

/** The turn was stopped. */
export type TurnAbortedEvent = {
  readonly type: "turn_end";
  readonly aborted: true;
};

/** The turn ended with an answer. */
export type TurnEndEvent = {
  readonly type: "turn_end";
  readonly answer: string;
  readonly usage: TokenCounts;
};

/** A turn begins; without a message jobs that ended have started it. */
export type TurnStartEvent = {
  readonly type: "turn_start";
  readonly message?: string;
};
