import { plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import type { PlanAnswer } from '@/lib/client/api-types';

/** Declared differences between the run's machine and today's, by name. */
export function DriftStrip({ plan }: { readonly plan: PlanAnswer }) {
  const { drift, machineDigest } = plan;
  const compared = drift.source === 'worker';
  if (drift.differences.length === 0) {
    return (
      <div className="gate">
        <span className="mark" data-tone={compared ? 'ok' : 'neutral'}>
          <Glyph name={compared ? 's-completed' : 's-unknown'} />
          <strong>{compared ? 'Machine unchanged' : 'Machine not compared'}</strong>
        </span>
        <span className="second">
          {compared
            ? 'compared with the newest live worker'
            : `no worker that has this agent is connected; ${
                machineDigest === null
                  ? 'the trace names no machine'
                  : 'the plan goes by the recorded machine'
              }`}
        </span>
        {machineDigest !== null && <code className="third">{machineDigest.slice(0, 12)}</code>}
        <span className="grow" />
        <span className="second">
          {plan.context.note !== '' ? plan.context.note : plural(plan.context.messages, 'message')}
        </span>
      </div>
    );
  }
  return (
    <details className="gate-list" data-tone={drift.blocked ? 'bad' : 'attention'} open={drift.blocked}>
      <summary>
        <Glyph name={drift.blocked ? 'd-blocked' : 'info'} toned />
        <strong>
          {plural(drift.differences.length, 'declared difference')} since the record
          {drift.blocked ? ', blocking' : ''}
        </strong>{' '}
        <span className="second">compared with the newest live worker</span>
      </summary>
      <ul>
        {drift.differences.map((difference) => (
          <li key={difference.path}>
            <code>{difference.path}</code> {difference.sentence}{' '}
            <span className="third">({difference.grade})</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
