/**
 * What is piped into the process: records of standard input, as they come, until it ends.
 *
 * <p>Invariant: nothing waits for the input but a thread of its own ({@link
 * io.turbidite.feeds.source.stdin.Piped}), so a quiet pipe keeps no run from ending or from
 * delivering what it has. Start reading at {@link io.turbidite.feeds.source.stdin.StdinReader}.
 */
@NullMarked
package io.turbidite.feeds.source.stdin;

import org.jspecify.annotations.NullMarked;
