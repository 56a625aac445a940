package io.steelyard.lab.worker;

/**
 * A call's result with the time that the coordinator saw.
 *
 * @param value what the worker replied
 * @param outsideNanos nanoseconds from the moment before the request was written until the reply's
 *     line had arrived
 */
public record Timed<T>(T value, long outsideNanos) {}
