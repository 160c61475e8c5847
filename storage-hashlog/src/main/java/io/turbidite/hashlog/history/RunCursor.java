package io.turbidite.hashlog.history;

/**
 * The addresses of one hash in a run, newest first. <em>Confined to one thread,</em> which closes
 * it.
 */
public final class RunCursor implements AutoCloseable {
    private final RunFile run;
    private final long hash;
    private final long from;
    private long next;
    private long address;

    RunCursor(RunFile run, long hash, long from, long to) {
        this.run = run;
        this.hash = hash;
        this.from = from;
        this.next = run.countBefore(hash, to);
    }

    /**
     * Moves to the next address, an older one; false at the end.
     *
     * @throws io.turbidite.core.CorruptionException if the run is damaged there
     */
    public boolean next() {
        if (next == 0 || run.hash(next - 1) != hash || run.address(next - 1) < from) {
            return false;
        }
        next--;
        address = run.address(next);
        return true;
    }

    /** Of a record that had the hash when the run was made. */
    public long address() {
        return address;
    }

    @Override
    public void close() {
        run.close();
    }
}
