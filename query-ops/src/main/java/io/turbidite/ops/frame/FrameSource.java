package io.turbidite.ops.frame;

/**
 * An operator that begins a stage of a job: it reads a source, or what an earlier stage collected,
 * and pushes frames. It is driven in steps, so that a reader can take rows one by one without a
 * thread or an unbounded queue between. <em>Confined to one thread at a time.</em>
 */
public interface FrameSource extends AutoCloseable {
    /** Opens cursors; on the thread that will step. */
    void open();

    /**
     * Goes on until it has pushed one frame, has looked at some thousand records or is at its end;
     * never pushes two frames, which is what lets a reader use one between two steps.
     *
     * @return whether there may be more; false too when nobody wants more
     */
    boolean step();

    /** Whether the last step stopped because nothing is there yet: there is more later. */
    default boolean isPaused() {
        return false;
    }

    /**
     * Whether it is known before it is opened that it pushes nothing: a stage then goes without it.
     */
    default boolean hasNothing() {
        return false;
    }

    /** Releases cursors and memory; may be called without open and more than once. */
    @Override
    void close();
}
