package io.turbidite.lsm.version;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * An open file that several {@link ComponentHandle handles} may stand on, as a component's does
 * when it gets another bitmap. The last of them closes it; it goes to the {@link FileReaper} if a
 * manifest without it is durable.
 *
 * <p><em>Thread-safe:</em> count by compare-and-swap, {@code obsolete} by release and acquire.
 */
final class SharedFile {
    private final String name;
    private final Runnable closer;
    private final FileReaper reaper;
    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile boolean obsolete;

    SharedFile(String name, Runnable closer, FileReaper reaper) {
        this.name = name;
        this.closer = closer;
        this.reaper = reaper;
    }

    /** One more handle stands on it; whoever calls has one that does. */
    SharedFile shared() {
        int before = holders.getAndIncrement();
        assert before > 0 : name + " was let go";
        return this;
    }

    void release() {
        int left = holders.decrementAndGet();
        assert left >= 0 : name + " is let go twice";
        if (left == 0) {
            closer.run();
            if (obsolete) {
                reaper.bury(name);
            }
        }
    }

    void markObsolete() {
        obsolete = true;
    }
}
