package io.turbidite.ops.job;

/**
 * A job failed where a {@link JobHost} had it run, other than by a request that can't be met. It
 * names the node and the stage; what was thrown there stays there.
 */
public final class HostedJobException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String where;
    private final String kind;

    /**
     * A failure.
     *
     * @param where the node and the stage; empty: it is not known
     * @param kind the name of the class that was thrown there, without its package; empty: it is
     *     not known
     */
    public HostedJobException(String message, String where, String kind) {
        super(message);
        this.where = where;
        this.kind = kind;
    }

    /** The node and the stage that failed; empty: it is not known. */
    public String where() {
        return where;
    }

    /** The name of the class that was thrown there, without its package; empty: not known. */
    public String kind() {
        return kind;
    }
}
