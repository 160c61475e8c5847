package io.turbidite.core.sim;

/** Called before each durable step, without a lock held: the place to take a crash image. */
@FunctionalInterface
public interface OperationHook {
    /** If it throws, the step is not taken and the caller of the disk gets the exception. */
    void before(Operation operation);
}
