package io.turbidite.core.cache;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A page in memory. {@link #segment()} is exactly the page; it is valid, and its bytes are
 * constant, from {@link CachedFile#pin} to {@link #unpin()}.
 *
 * <p><em>Thread-safe</em>: any thread may unpin what another pinned. A frame is made for one
 * loading of one page and never used for another, so a reader that meets an evicted frame in the
 * file's array sees its DEAD flag and nothing else (no ABA).
 *
 * <p>All state is one long, moved by atomic additions:
 *
 * <pre>
 * bits  0..23  pins now
 * bit      24  LOADING: the bytes are not there yet, the loader has a pin
 * bit      25  DOOMED: the file is closed; the last unpin frees the frame
 * bit      26  DEAD: the memory is given up
 * bits 32..63  pins ever, modulo 2^32
 * </pre>
 *
 * One addition of {@link #PIN} thus pins, counts the hit and is the reference mark that the clock
 * hand looks for. A pin that finds a flag takes its addition back. The segment is written before
 * LOADING is cleared (release) and read after the addition (acquire).
 */
public final class PageFrame {
    static final long PIN = 1L << 32 | 1;
    static final long PINS_MASK = (1L << 24) - 1;
    static final long LOADING = 1L << 24;
    static final long DOOMED = 1L << 25;
    static final long DEAD = 1L << 26;
    static final long FLAGS = LOADING | DOOMED | DEAD;
    private static final int PINS_EVER_SHIFT = 32;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(PageFrame.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final BufferCache cache;
    final CachedFile file;
    final int page;

    private volatile long state = LOADING | PIN;

    private MemorySegment segment = MemorySegment.NULL;

    /** Guarded by the lock of {@link Slabs}. */
    @Nullable
    Slot slot;

    /** Its memory, of a page that has none in the cache; else null. Guarded by this. */
    private @Nullable Arena ownArena;

    private long ownBytes;

    /** Where that memory is counted. */
    private @Nullable RoomBeside room;

    /**
     * Pins that were given until the frame died. What {@link #pinsEver} says of a dead frame may
     * count a pin that is about to be taken back. Guarded by the lock of {@link Slabs}.
     */
    private long pinsAtDeath;

    PageFrame(BufferCache cache, CachedFile file, int page) {
        this.cache = cache;
        this.file = file;
        this.page = page;
    }

    /** The page's bytes, all of them and no more. */
    public MemorySegment segment() {
        return segment;
    }

    /** The caller is done with the bytes; once for each pin. */
    public void unpin() {
        long before = (long) STATE.getAndAdd(this, -1L);
        assert (before & PINS_MASK) > 0 : "page " + page + " of " + file + " is unpinned twice";
        if ((before & FLAGS) != 0 || cache.isAwaited()) {
            cache.unpinned(this);
        }
    }

    /** Adds a pin, unless the frame is not, or no longer, to be read. */
    boolean tryPin() {
        long before = (long) STATE.getAndAdd(this, PIN);
        if ((before & FLAGS) == 0) {
            return true;
        }
        STATE.getAndAdd(this, -PIN);
        cache.unpinned(this);
        return false;
    }

    /** Gives the frame memory that goes with it. */
    synchronized void own(Arena arena, long bytes, RoomBeside from) {
        ownArena = arena;
        ownBytes = bytes;
        room = from;
    }

    /** Frees that memory, of a dead frame, if there still is some. */
    synchronized void closeOwn() {
        Arena arena = ownArena;
        RoomBeside from = room;
        if (arena == null || from == null) {
            return;
        }
        ownArena = null;
        arena.close();
        from.release(ownBytes);
    }

    /** The loader's word that {@code loaded} holds the page; its pin stays. */
    void publish(MemorySegment loaded) {
        segment = loaded;
        STATE.getAndBitwiseAnd(this, ~LOADING);
    }

    /** Refuses all further pins; true if nobody has one. */
    boolean doom() {
        long before = (long) STATE.getAndBitwiseOr(this, DOOMED);
        return (before & PINS_MASK) == 0;
    }

    /** Gives the frame up if nobody has a pin and none is loading it; true if this call did. */
    boolean tryKill() {
        long seen = state;
        boolean killed = (seen & (PINS_MASK | LOADING | DEAD)) == 0
                && STATE.compareAndSet(this, seen, seen | DEAD);
        if (killed) {
            pinsAtDeath = seen >>> PINS_EVER_SHIFT;
        }
        return killed;
    }

    /** Gives the frame of a failed load up, whoever waits for it. */
    void fail() {
        pinsAtDeath = 1; // the loader's own
        STATE.getAndBitwiseOr(this, DEAD);
        STATE.getAndBitwiseAnd(this, ~LOADING);
    }

    boolean isLoading() {
        return (state & LOADING) != 0;
    }

    boolean isDead() {
        return (state & DEAD) != 0;
    }

    boolean isDoomed() {
        return (state & DOOMED) != 0;
    }

    boolean isPinned() {
        return (state & PINS_MASK) != 0;
    }

    long pinsAtDeath() {
        return pinsAtDeath;
    }

    /** Pins since the frame was made, the loader's included. */
    long pinsEver() {
        return state >>> PINS_EVER_SHIFT;
    }
}
