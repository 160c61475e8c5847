package io.turbidite.lsm.indexbuild;

/** A build was told to stop; unwinds it to where it was started. */
public final class StoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StoppedException() {
        super("the index build was stopped");
    }
}
