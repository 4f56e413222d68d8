/**
 * Node collects garbage on several threads by default. Where many short-lived processes share the cores, their start
 * takes a tenth to a fifth less CPU with one.
 */
export const onFewCores = ['--single-threaded-gc'];
