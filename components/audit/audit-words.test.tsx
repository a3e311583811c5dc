import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { AuditRow } from '@/lib/client/audit-queries';
import type { AuditView } from '@/lib/client/url-state';
import { AuditFilters } from './audit-filters';
import { NoDeed } from './audit-list';
import { actionView, auditFilterWords, endWords, outcomeView, reasonWords } from './audit-words';

const everything: AuditView = { actor: [], action: [], run: '', q: '', from: '', to: '' };

describe('the audit in words', () => {
  it('says of an order that has not ended nothing that only a run which runs makes true', () => {
    for (const { tone, glyph, word } of Object.values(outcomeView))
      expect(`${tone} ${glyph} ${word}`).not.toMatch(/running/i);
    expect(outcomeView.running.word).toBe('Accepted');
    expect(endWords({ outcome: 'running', detail: null }, 'utc')).toBe('It has not ended');
    expect(endWords({ outcome: 'done', detail: null }, 'utc')).toBe('');
  });

  it('shows every time in what the console wrote as all times are shown, and what a person wrote as it was', () => {
    const detail = 'link_1, until 2026-12-06T02:02:40.123Z.';
    for (const reason of [null, ''])
      expect(reasonWords({ reason, detail }, 'utc')).toBe('link_1, until 2026-12-06 02:02:40 UTC.');
    expect(reasonWords({ reason: detail, detail: null }, 'utc')).toBe(detail);
    expect(reasonWords({ reason: null, detail: null }, 'utc')).toBe('');
    expect(endWords({ outcome: 'refused', detail: 'Held until 2026-12-06T02:02:40Z' }, 'utc')).toBe(
      'Held until 2026-12-06 02:02:40 UTC',
    );
  });

  it('names every filter', () => {
    expect(auditFilterWords(everything, 'utc')).toEqual([]);
    expect(
      auditFilterWords(
        {
          actor: [''],
          action: ['sign-in', 'replay'],
          run: 'run_1',
          q: 'x',
          from: '2026-11-29T01:00:00Z',
          to: '',
        },
        'utc',
      ),
    ).toEqual([
      'Actor is unknown',
      `Action is ${actionView['sign-in'].word} or ${actionView.replay.word}`,
      'Run is run_1',
      'Time since 2026-11-29 01:00 UTC',
      'Search “x”',
    ]);
  });
});

describe('the filters of the audit', () => {
  const filters = (view: Partial<AuditView>, rows: readonly AuditRow[] = [{ actor: 'Ada' } as AuditRow]) =>
    renderToStaticMarkup(
      <AuditFilters view={{ ...everything, ...view }} rows={rows} onChange={() => undefined} />,
    );

  it('can be cleared in one place at a time: beside the rows, or where none matches', () => {
    expect(filters({ q: 'x' })).toContain('Clear the filters');
    expect(filters({ q: 'x' }, [])).not.toContain('Clear');
    expect(filters({})).not.toContain('Clear');
    const none = renderToStaticMarkup(<NoDeed words={['Run is run_1']} onClear={() => undefined} />);
    expect(none).toContain('Nothing in the audit matches these filters');
    expect(none).toContain('Run is run_1');
    expect(none).toContain('Clear the filters');
  });

  it('have their times in the zone of all others', () => {
    const html = filters({ from: '2026-11-29T01:00:00Z' });
    expect(html).toContain('From (UTC)');
    expect(html).toContain('value="2026-11-29T01:00"');
  });
});
