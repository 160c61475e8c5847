package io.turbidite.core.cache;

import io.turbidite.core.ClosedException;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * An immutable file's pages in the cache: the array from page number to frame.
 *
 * <p><em>Thread-safe.</em> A hit is one array load and one atomic addition: no lock, no garbage.
 * Owned by whoever registered it; the cache closes it too when it is closed.
 *
 * <ol>
 *   <li>Array elements go null → frame by the thread that will load it, and frame → null once the
 *       frame is dead. So one thread loads a page, all others wait for it.
 *   <li>A closed file has no frame that can be pinned: {@link #close} dooms those it finds, and a
 *       loader looks at {@code closed} after it has published its frame.
 * </ol>
 */
public final class CachedFile implements AutoCloseable {
    private final BufferCache cache;
    private final String name;
    private final PageLoader loader;
    private final AtomicReferenceArray<@Nullable PageFrame> frames;
    private volatile boolean closed;

    CachedFile(BufferCache cache, String name, int pageCount, PageLoader loader) {
        this.cache = cache;
        this.name = name;
        this.loader = loader;
        this.frames = new AtomicReferenceArray<>(pageCount);
    }

    /**
     * The frame of a page, loaded if need be; the caller unpins it.
     *
     * @throws IndexOutOfBoundsException if there is no such page
     * @throws ClosedException if this file or the cache is closed
     * @throws io.turbidite.core.CacheFullException if all frames stayed pinned for as long as the
     *     cache waits
     * @throws io.turbidite.core.StorageException whatever the {@link PageLoader} throws
     */
    public PageFrame pin(int page) {
        return pin(page, loader);
    }

    /**
     * As {@link #pin(int)}; a miss is loaded by {@code own}, for whoever has read the bytes
     * already. It must give what the file's loader gives.
     */
    public PageFrame pin(int page, PageLoader own) {
        PageFrame frame = pinCached(page);
        return frame != null ? frame : pinSlowly(page, own);
    }

    /** As {@link #pin(int)}, if the page is cached; else null, and nothing is loaded. */
    public @Nullable PageFrame pinCached(int page) {
        PageFrame frame = frames.get(page);
        return frame != null && frame.tryPin() ? frame : null;
    }

    /** Whether the page is cached or being loaded; it may be gone a moment later. */
    public boolean holds(int page) {
        return frames.get(page) != null;
    }

    public int pageCount() {
        return frames.length();
    }

    public String name() {
        return name;
    }

    /** Drops all frames, those still pinned at their last unpin; later pins throw. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (int page = 0; page < frames.length(); page++) {
            PageFrame frame = frames.get(page);
            if (frame != null && frame.doom()) {
                cache.unpinned(frame);
            }
        }
        cache.unregister(this);
    }

    @Override
    public String toString() {
        return name;
    }

    /** Called once the frame is dead. */
    void forget(PageFrame frame) {
        frames.compareAndSet(frame.page, frame, null);
    }

    /** Whether a pin of the page would find {@code frame}. */
    boolean knows(PageFrame frame) {
        return frames.get(frame.page) == frame;
    }

    private PageFrame pinSlowly(int page, PageLoader own) {
        while (true) {
            if (closed) {
                throw new ClosedException(name);
            }
            PageFrame frame = frames.get(page);
            if (frame == null) {
                PageFrame mine = new PageFrame(cache, this, page);
                if (frames.compareAndSet(page, null, mine)) {
                    return load(mine, own);
                }
            } else if (frame.tryPin()) {
                return frame;
            } else if (frame.isLoading()) {
                cache.awaitLoaded(frame);
            } else if (frame.isDead()) {
                // whoever gave it up is about to do the same
                forget(frame);
            }
            // else it was published since, or the file is closed: look again
        }
    }

    private PageFrame load(PageFrame mine, PageLoader own) {
        cache.load(mine, own);
        if (closed) {
            mine.doom();
            mine.unpin();
            throw new ClosedException(name);
        }
        return mine;
    }
}
