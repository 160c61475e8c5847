package io.turbidite.hashlog.log;

import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;

/**
 * One worker's way of appending: takes space, and says when what it wrote there is visible.
 *
 * <p><em>Confined to one thread at a time.</em>
 *
 * <pre>{@code
 * session.begin();
 * long address = session.allocate(bytes);      // negative: full() and start the record again
 * ... write key pointers and payload, store the header, insert into the chains, store it visible ...
 * session.published(address + bytes);
 * session.end();
 * }</pre>
 */
public final class LogSession implements AutoCloseable {
    /**
     * Looks at the next page this often before waiting: another session may be about to open it.
     */
    private static final int SPIN_COUNT = 64;

    private final HybridLog log;
    private final EpochSession epoch;
    private final InFlight inFlight;
    private final Tail tail;
    private final String name;
    private final int slot;

    LogSession(HybridLog log, EpochSession epoch, InFlight inFlight, Tail tail, String name) {
        this.log = log;
        this.epoch = epoch;
        this.inFlight = inFlight;
        this.tail = tail;
        this.name = name;
        this.slot = inFlight.take();
    }

    /** Its name, as marks in the log keep it. */
    public String name() {
        return name;
    }

    /** Protects, and bounds what will be in flight by the tail of now. */
    public void begin() {
        epoch.protect();
        inFlight.set(slot, tail.address());
    }

    /** Nothing is in flight and nothing protected any more. */
    public void end() {
        inFlight.set(slot, InFlight.IDLE);
        epoch.unprotect();
    }

    /**
     * Takes {@code byteCount} bytes, a multiple of 8 and at most {@link LogShape#recordBytesMax()}.
     * The session must not refresh before it has published them: its bound keeps chains above it in
     * memory.
     *
     * @return the address; or, negative, what {@link #turn} wants: the page is full
     */
    public long allocate(int byteCount) {
        return tail.allocate(byteCount);
    }

    /** Everything of this session below {@code end} is visible. */
    public void published(long end) {
        inFlight.set(slot, end);
    }

    /** Between records: sees new epochs, and lets the actions that waited for this session run. */
    public void refresh() {
        epoch.refresh();
    }

    /**
     * After a full page: goes on to the next one, waiting if memory is full because the device is
     * slower. While it waits the session is not protected: whatever it read before has to be read
     * again.
     *
     * @param full what {@link #allocate} returned
     * @return nanoseconds waited, 0 if the page was there
     * @throws io.turbidite.core.StoreFailedException if the log failed
     */
    public long turn(long full) {
        long page = ~full;
        for (int i = 0; i < SPIN_COUNT; i++) {
            if (log.pages().turn(page)) {
                refresh();
                return 0;
            }
            Thread.onSpinWait();
        }
        end();
        long nanos = log.flusher().awaitTurn(page);
        begin();
        return nanos;
    }

    /** The epochs' side of it, for reading between records. */
    public EpochSession epoch() {
        return epoch;
    }

    Epochs epochs() {
        return log.epochs();
    }

    @Override
    public void close() {
        inFlight.free(slot);
        epoch.close();
    }
}
