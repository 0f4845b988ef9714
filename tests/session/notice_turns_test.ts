import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { NoticeTurns } from "../../src/session/notice_turns.ts";

/** How many turns were started in the second after `act`. */
async function startsAfter(act: (turns: NoticeTurns) => void, turns = createTurns()) {
  const before = turns.starts;
  act(turns.noticeTurns);
  await turns.time.tickAsync(1000);
  return turns.starts - before;
}

function createTurns() {
  const time = new FakeTime();
  const turns = {
    time,
    starts: 0,
    noticeTurns: new NoticeTurns({ start: () => void turns.starts++ }),
    [Symbol.dispose]: () => {
      turns.noticeTurns[Symbol.dispose]();
      time.restore();
    },
  };
  return turns;
}

Deno.test("NoticeTurns starts one turn for jobs that end within a second, and not at once", async () => {
  using turns = createTurns();
  turns.noticeTurns.schedule();
  turns.noticeTurns.schedule();
  assertEquals(turns.starts, 0);
  assertEquals(await startsAfter((noticeTurns) => noticeTurns.schedule(), turns), 1);
  assertEquals(await startsAfter(() => {}, turns), 0);
});

Deno.test("NoticeTurns starts none while held, whether the job ended before or after", async () => {
  using turns = createTurns();
  const hold = (noticeTurns: NoticeTurns) => {
    noticeTurns.schedule();
    noticeTurns.hold();
  };
  assertEquals(await startsAfter(hold, turns), 0);
  assertEquals(await startsAfter((noticeTurns) => noticeTurns.schedule(), turns), 0);
  assertEquals(turns.noticeTurns.isAllowed, false);
  const lift = (noticeTurns: NoticeTurns) => {
    noticeTurns.lift();
    noticeTurns.schedule();
  };
  assertEquals(await startsAfter(lift, turns), 1);
});

Deno.test("NoticeTurns allows ten in a row, and ten more after a word of the client", async () => {
  using turns = createTurns();
  for (const _round of [1, 2]) {
    for (let n = 0; n < 10; n++) {
      assertEquals(turns.noticeTurns.isAllowed, true);
      turns.noticeTurns.countTurn();
    }
    assertEquals(turns.noticeTurns.isAllowed, false);
    assertEquals(await startsAfter((noticeTurns) => noticeTurns.schedule(), turns), 0);
    turns.noticeTurns.lift();
  }
});

Deno.test("NoticeTurns starts nothing after dispose, but still says what is allowed", async () => {
  using turns = createTurns();
  turns.noticeTurns.schedule();
  turns.noticeTurns[Symbol.dispose]();
  turns.noticeTurns[Symbol.dispose]();
  assertEquals(await startsAfter((noticeTurns) => noticeTurns.schedule(), turns), 0);
  assertEquals(turns.noticeTurns.isAllowed, true);
});
