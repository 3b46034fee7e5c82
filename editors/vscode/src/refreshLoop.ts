// Repeats a request while somebody looks at its answer: one at a time, and again after changes, so that an older answer never replaces a
// newer one.

import type * as vscode from 'vscode';

const DELAY = 300;

export class RefreshLoop implements vscode.Disposable {
  private isWatched = false;
  private isStale = true;
  private timer: NodeJS.Timeout | undefined;
  private pending: Promise<void> | undefined;

  /** `request` resolves to whether it succeeded; after a failure the answer stays stale. */
  constructor(private readonly request: () => Promise<boolean>) {}

  /** Sends the request now if the answer is stale, and whenever it becomes stale, as long as somebody looks at it. */
  watch(isWatched: boolean): void {
    this.isWatched = isWatched;
    if (isWatched && this.isStale) void this.refresh();
  }

  /** Sends the request if somebody looks at the answer, else when somebody does. */
  async refresh(): Promise<void> {
    clearTimeout(this.timer);
    this.isStale = true;
    if (this.isWatched) await (this.pending ??= this.requestWhileStale());
  }

  refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), DELAY);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private async requestWhileStale(): Promise<void> {
    try {
      for (let isAnswered = true; isAnswered && this.isStale && this.isWatched;) {
        this.isStale = false;
        isAnswered = await this.request();
        this.isStale ||= !isAnswered;
      }
    } finally {
      this.pending = undefined;
    }
  }
}
