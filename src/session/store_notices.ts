/** Puts the notices of jobs into a conversation. Knows no turn. */

import { createNoticeMessage, type Notices } from "./notices.ts";
import type { Settings } from "./settings.ts";
import type { Transcript } from "./transcript.ts";

/**
 * All that wait, as one message. What a subagent's jobs have to say is the subagent's, as long as it runs (`subagents`: ids of those). Throws what storing
 * throws; then they wait on.
 */
export function storeNotices(
  notices: Notices,
  { transcript, settings, subagents }: {
    transcript: Transcript;
    settings: Settings;
    subagents: ReadonlySet<string>;
  },
): void {
  const jobs = notices.take(({ owner }) =>
    owner.subagent === undefined || !subagents.has(owner.subagent)
  );
  if (jobs.length === 0) return;
  const { policy, redact } = settings;
  try {
    transcript.append(createNoticeMessage(jobs, { source: policy.noticeSource, redact }));
  } catch (error) {
    for (const job of jobs) notices.add(job);
    throw error;
  }
}
