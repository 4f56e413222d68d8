// Loaded into a worker before its code: its options of the SDK are those of the query, as JSON.
import { Worker } from '@temporalio/worker';

const options = JSON.parse(new URL(import.meta.url).searchParams.get('options'));
const create = Worker.create.bind(Worker);
Worker.create = (given) => create({ ...given, ...options });
