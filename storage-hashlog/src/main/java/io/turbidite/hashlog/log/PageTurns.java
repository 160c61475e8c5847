package io.turbidite.hashlog.log;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Turns from a full page to the next one, in the frame of one that leaves memory.
 *
 * <p><em>Thread-safe;</em> of the sessions that find a page full, one opens the next. The head
 * follows what is durable, a few frames ahead of the tail, and a frame is free when every epoch
 * that could have read the old head has passed.
 */
final class PageTurns {
    private final HybridLog log;
    private final LogShape shape;
    private final Tail tail;
    private final AtomicLong newestPage;
    private final AtomicLong headPage;
    private volatile long safeHeadPage;

    /**
     * @param page the tail's, the only one in memory
     */
    PageTurns(HybridLog log, Tail tail, long page) {
        this.log = log;
        this.shape = log.shape();
        this.tail = tail;
        this.newestPage = new AtomicLong(page);
        this.headPage = new AtomicLong(page);
        this.safeHeadPage = page;
    }

    /** The oldest page in memory. */
    long head() {
        return headPage.get();
    }

    private boolean isTurned(long page) {
        return tail.page() > page;
    }

    /** Whether a session that waits for the page after {@code page} has something to do. */
    boolean mayTurn(long page) {
        return isTurned(page)
                || log.isFailed()
                || log.isEnding()
                || (tail.isClosed(page) && isFree(page + 1));
    }

    /**
     * Opens the page after {@code page}, which was found full, if its frame is free.
     *
     * @return whether the page is open, by this call or another
     */
    boolean turn(long page) {
        if (isTurned(page)) {
            return true;
        }
        if (!tail.isClosed(page) || !isFree(page + 1)) {
            return false;
        }
        if (!newestPage.compareAndSet(page, page + 1)) {
            return false; // another session is at it
        }
        Ring ring = log.ring();
        long now = log.nowMicros();
        ring.closed(page, now);
        long opened = Math.max(now, ring.closedMicros(page));
        ring.opened(page + 1, opened);
        log.noteTime(opened);
        tail.open(page + 1);
        shiftHead();
        log.flusher().wake();
        return true;
    }

    /**
     * Moves head so that some frames ahead of the tail become free, as far as durability allows.
     */
    void shiftHead() {
        int ahead = Math.max(1, shape.ringPageCount() / 8);
        long wanted = newestPage.get() + ahead + 1 - shape.ringPageCount();
        long target = Math.min(wanted, shape.pageOf(log.durable()));
        long before = headPage.get();
        if (target > before && log.isNullDevice()) {
            // first: a reader that finds an address below the head must find it below the begin,
            // too
            log.moveBegin(shape.firstRecordOf(target));
        }
        if (target > before && headPage.compareAndSet(before, target)) {
            log.epochs().bump(() -> {
                safeHeadPage = Math.max(safeHeadPage, target);
                log.site().tasks().signal();
            });
        }
    }

    private boolean isFree(long page) {
        return page - shape.ringPageCount() < safeHeadPage;
    }
}
