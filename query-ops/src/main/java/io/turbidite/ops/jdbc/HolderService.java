package io.turbidite.ops.jdbc;

import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.time.Clock;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Answers connections of JDBC of other processes from the store that this one holds. The caller
 * moves their bytes, and decides who may connect. <em>Thread-safe.</em> Memory: 1 MiB of requests
 * for each conversation, 32 MiB for one of all of them, and 64 KiB of rows, or one row.
 */
public final class HolderService {
    /** A request that is longer waits for others that are. */
    private static final int SMALL_BYTES_MAX = 1 << 20;

    private static final long LARGE_WAIT_SECONDS = 60;

    private final OpenCatalog catalog;
    private final Clock clock;
    private final Semaphore large = new Semaphore(1);

    /** A service of a store that the caller has open, and closes after all conversations. */
    public HolderService(OpenCatalog catalog, Clock clock) {
        this.catalog = catalog;
        this.clock = clock;
    }

    /** Bytes from and to a client. <em>For one thread at a time.</em> */
    public interface Client {
        /**
         * Takes bytes as they come.
         *
         * @param waitMillis how long at most; 0: as long as it takes
         * @return how many there were, 1 to {@code length}; -1 when the client has gone
         * @throws IOException if none came in time
         */
        int read(byte[] into, int offset, int length, long waitMillis) throws IOException;

        /**
         * Sends bytes, at the client's pace.
         *
         * @throws IOException if it takes none, or has gone
         */
        void write(byte[] bytes, int offset, int length) throws IOException;

        /** Whether it has gone: what runs for it ends. */
        boolean isGone();
    }

    /** A conversation with a client that may use the store. */
    public HolderConversation conversation(Client client) {
        return new HolderConversation(this, client);
    }

    OwnSession session(long planningMillis) {
        return OwnSession.of(catalog, Duration.ofMillis(planningMillis), () -> {
            // whoever opened the store closes it
        });
    }

    Clock clock() {
        return clock;
    }

    /** What a long request needs; release it once the request is answered. */
    boolean awaitLarge(int bytes) throws IOException {
        if (bytes <= SMALL_BYTES_MAX) {
            return false;
        }
        try {
            if (!large.tryAcquire(LARGE_WAIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(
                        "statements of more than %d bytes with their values are run one by one, and others were not done for %d s"
                                .formatted(SMALL_BYTES_MAX, LARGE_WAIT_SECONDS));
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    void releaseLarge() {
        large.release();
    }
}
