package io.turbidite.ops.frame;

/**
 * Where an operator pushes its frames: {@code open, frame*, fail?, close}, the protocol of Hyracks,
 * so that the same operators can be hosted by it. <em>Confined to one thread at a time.</em>
 */
public interface FrameWriter {
    /** Before the first frame. */
    void open();

    /**
     * Takes a frame. The frame belongs to the caller, who leaves it alone until it pushes the next
     * one.
     *
     * @return whether more are wanted; a caller that goes on regardless does no harm
     */
    boolean frame(Frame frame);

    /**
     * The frames so far are not the whole answer and there will be no more; {@link #close} follows.
     */
    void fail();

    /** No more frames. Once after each open, after a failure too. */
    void close();
}
