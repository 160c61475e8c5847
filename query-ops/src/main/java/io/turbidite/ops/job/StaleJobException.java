package io.turbidite.ops.job;

/**
 * A node of a {@link JobHost} refused a job that was made for another state of its cluster than the
 * node has: its schema or placement has changed, or the node or the controller was started anew. It
 * was made anew once, and refused again; nothing of it was done on that node.
 */
public final class StaleJobException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A refusal.
     *
     * @param message with the node and why
     */
    public StaleJobException(String message) {
        super(message);
    }
}
