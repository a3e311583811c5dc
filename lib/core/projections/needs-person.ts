import type { RunRecord, RunState, RunStatus } from './records';

/**
 * Whether the run stands until a person acts: the one expression for the list's filter and whoever counts by it.
 * `status` is that of `statusNow`, `inDoubt` whether it has an effect in doubt (`doubtsOf`): that needs somebody however
 * the run ended. A mirror is acted on at its home. A run that failed without a doubt is not among them: nothing of it
 * is open, and it may be left as it is.
 */
export function needsPerson(
  run: Pick<RunRecord, 'home' | 'state'>,
  status: RunStatus,
  inDoubt: boolean,
): boolean {
  if (run.home !== 'here') return false;
  if (inDoubt || status === 'interrupted' || status === 'paused') return true;
  return asking.has(status) && asksPerson(run.state);
}

/** Statuses in which a question, a doubt or a conflict may be open. */
export const askingStatuses = ['waiting', 'running', 'queued'] as const satisfies readonly RunStatus[];
const asking: ReadonlySet<RunStatus> = new Set(askingStatuses);

/** What a run can wait for that only a person ends. */
export const personsWaits = [
  'question',
  'in-doubt',
  'blocked',
  'conflict',
] as const satisfies readonly Exclude<RunState['waitingOn'][number]['for'], 'timer'>[];
const ofPersons: ReadonlySet<string> = new Set(personsWaits);

const asksPerson = ({ waitingOn, questions }: RunState): boolean =>
  waitingOn.some((on) => ofPersons.has(on.for)) ||
  Object.values(questions).some((question) => question.status === 'open');
