package io.turbidite.core;

/**
 * What is to be undone when the block that it stands at the head of fails: a file closed that
 * nobody will get, memory given back, a draft deleted.
 *
 * <pre>
 * DiskFile file = disk.openReadOnly(name);
 * try (Undo undo = Undo.of(file::close)) {
 *     return undo.keep(new Reader(file)); // which closes the file from here on
 * }
 * </pre>
 *
 * <p>A step that fails while it is undone is suppressed, in the failure that made it necessary.
 * <em>Confined to one thread.</em> It is garbage, so hot paths keep a flag instead.
 */
public final class Undo implements AutoCloseable {
    private final Runnable step;
    private boolean kept;

    private Undo(Runnable step) {
        this.step = step;
    }

    /**
     * Runs {@code step} at the block's end, unless it is told to {@link #keep}.
     *
     * @param step what takes back that which was done before the block, and maybe in it
     */
    public static Undo of(Runnable step) {
        return new Undo(step);
    }

    /** What was done stands. */
    public void keep() {
        kept = true;
    }

    /** As {@link #keep()}; returns {@code result}. */
    public <T> T keep(T result) {
        kept = true;
        return result;
    }

    @Override
    public void close() {
        if (!kept) {
            step.run();
        }
    }
}
