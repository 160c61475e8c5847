package io.turbidite.lsm;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.write.Commits;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/**
 * A write that readers see, and that may not be durable yet. <em>Thread-safe.</em>
 *
 * <p>With it all writes of the store that had returned before it began are durable too: who writes
 * one after the other asks the last one alone. After a failed sync all that are not durable fail,
 * and so does the store; what is left of them is seen when it is opened again.
 */
public final class Commit {
    private final Commits commits;
    private final long sequence;

    Commit(Commits commits, long sequence) {
        this.commits = commits;
        this.sequence = sequence;
    }

    /**
     * Whether the write is as durable as the store's mode says.
     *
     * @throws io.turbidite.core.StoreFailedException if it is not and never will be
     */
    public boolean isDurable() {
        return commits.isDurable(sequence);
    }

    /**
     * Returns when the write is as durable as the store's mode says.
     *
     * @throws io.turbidite.core.StoreFailedException if it never will be
     */
    public void awaitDurable() {
        commits.awaitDurable(sequence);
    }

    /**
     * Has a listener told, once, how the commit ended: with null when the write is durable, else
     * with the reason why it never will be. One thread tells all listeners of a store, those of
     * earlier writes first; closing the store waits for it. A listener may read and write, but not
     * close the store. One that takes long holds up other listeners, and no write; one that takes
     * over a second, or throws, is told in an event. Where {@value Commits#LISTENERS_MAX} listeners
     * wait, this waits for one of them.
     *
     * @return this
     * @throws io.turbidite.core.ClosedException if the store is closed
     */
    public Commit whenDurable(Consumer<@Nullable StorageException> listener) {
        commits.add(sequence, listener);
        return this;
    }
}
