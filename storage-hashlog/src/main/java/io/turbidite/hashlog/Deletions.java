package io.turbidite.hashlog;

import io.turbidite.hashlog.log.Deletion;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogSession;

import org.jspecify.annotations.Nullable;

/**
 * Deletes records. <em>Thread-safe by one lock:</em> deletions come one after the other, while
 * sessions go on. A caller must not be protected: the page may be full, and the next page waits for
 * all epochs.
 */
final class Deletions implements AutoCloseable {
    private final HybridLog log;
    private @Nullable LogSession session;

    Deletions(HybridLog log) {
        this.log = log;
    }

    /**
     * Deletes the record at {@code address}, which a reader has shown.
     *
     * @return false if the record was deleted before
     */
    synchronized boolean delete(long address) {
        log.checkWritable();
        if (log.deleted().contains(address)) {
            return false;
        }
        LogSession appending = session;
        if (appending == null) {
            appending = log.openSession("deletions");
            session = appending;
        }
        appending.begin();
        try {
            long at = appending.allocate(Deletion.RECORD_BYTES);
            while (at < 0) {
                appending.turn(at);
                at = appending.allocate(Deletion.RECORD_BYTES);
            }
            Deletion.write(log.memory(), log.place(at), address);
            // While in flight: a checkpoint that misses it in the set replays from below it.
            boolean added = log.deleted().add(address, log.begin());
            appending.published(at + Deletion.RECORD_BYTES);
            return added;
        } finally {
            appending.end();
        }
    }

    @Override
    public synchronized void close() {
        if (session != null) {
            session.close();
            session = null;
        }
    }
}
