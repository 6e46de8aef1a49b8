import { Field } from '../../ui/field.ts';
import type { Ui } from '../../ui/ui.ts';
import { MAIL_READ, type Mail } from './mail_store.ts';

const ME = 'user@mail.test';

/** A mail being written: three entries and what becomes of them. */
export class MailDraft {
  private readonly to = new Field();
  private readonly subject = new Field();
  private readonly body = new Field();

  /** Starts a mail; returns the entry that has the focus first. */
  start(to: string, subject: string): Field {
    this.to.set(to);
    this.subject.set(subject);
    this.body.set('');
    return to === '' ? this.to : this.body;
  }

  get canBeSent(): boolean {
    return this.to.text.trim() !== '';
  }

  mail(): Mail {
    const [to, subject, body] = [this.to, this.subject, this.body].map((field) => field.text.trim());
    return { status: MAIL_READ, from: ME, to: to ?? '', subject: subject ?? '', body: body ?? '' };
  }

  view(ui: Ui, x: number, commands: { send: () => void; keep: () => void; discard: () => void }): void {
    const rows: [string, Field][] = [
      ['To', this.to],
      ['Subject', this.subject],
      ['Body', this.body],
    ];
    rows.forEach(([name, field], row) => {
      ui.label(x, 3 + row * 2, 4, name);
      ui.entry(x + 4, 3 + row * 2, 7, name, field);
    });
    ui.button(x, 10, 3, 'Send', commands.send);
    ui.button(x, 12, 6, 'Save Draft', commands.keep);
    ui.button(x + 7, 12, 4, 'Discard', commands.discard);
  }
}
