/**
 * Where rows go from one worker to others: bounded queues of frames.
 *
 * <p>Holds the queues between the workers of a job ({@link io.turbidite.ops.exchange.Exchange}),
 * their two ends, and the frames that go through them. Starts no worker and waits for nothing: who
 * finds a queue full or empty says so to its caller, and is woken. Invariants: a queue holds no
 * more than its capacity; every frame goes back to the frames of its job. Start reading at
 * {@code Exchange}.
 */
@NullMarked
package io.turbidite.ops.exchange;

import org.jspecify.annotations.NullMarked;
