import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, type TestAnnotation, vi } from 'vitest';
import { keepCheck } from '../../support/protocol/kept-check.ts';

const aFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'kept-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'model');
};

it('a check that succeeded is not made again, and the test says so', async ({ task }) => {
  const [folder, annotate, check] = [
    aFolder(),
    vi.fn<(message: string) => Promise<TestAnnotation>>(),
    vi.fn<() => string>(() => '3 states'),
  ];
  await keepCheck({ task, annotate }, check, folder);
  expect(annotate).not.toHaveBeenCalled();
  await keepCheck({ task, annotate }, check, folder);
  expect(check).toHaveBeenCalledOnce();
  expect(annotate).toHaveBeenCalledOnce();
  await keepCheck({ task, annotate }, check, aFolder());
  expect(check).toHaveBeenCalledTimes(2);
});

it('a check that failed is made again', async ({ task }) => {
  const [folder, annotate] = [aFolder(), vi.fn<(message: string) => Promise<TestAnnotation>>()];
  const failing = () => {
    throw new Error('Broken: one event');
  };
  await expect(keepCheck({ task, annotate }, failing, folder)).rejects.toThrow('Broken');
  const check = vi.fn<() => string>(() => '3 states');
  await keepCheck({ task, annotate }, check, folder);
  expect(check).toHaveBeenCalledOnce();
  expect(readdirSync(folder)).toHaveLength(1);
});
