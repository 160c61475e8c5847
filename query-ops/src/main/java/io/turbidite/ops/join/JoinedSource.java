package io.turbidite.ops.join;

import io.turbidite.core.Cleanup;
import io.turbidite.ops.frame.FrameSource;

/**
 * A source that reads the rows of a join that others read beside it. <em>Confined to one thread at
 * a time.</em> Owns the source, and the join where it was never opened.
 */
public final class JoinedSource implements FrameSource {
    private final FrameSource source;
    private final JoinOpener opener;

    /**
     * @param source opens the join by {@code opener}
     */
    public JoinedSource(FrameSource source, JoinOpener opener) {
        this.source = source;
        this.opener = opener;
    }

    @Override
    public void open() {
        source.open();
    }

    @Override
    public boolean step() {
        return source.step();
    }

    @Override
    public boolean isPaused() {
        return source.isPaused();
    }

    @Override
    public boolean hasNothing() {
        return opener.hasNothing();
    }

    @Override
    public void close() {
        new Cleanup().add(source::close).add(opener::close).run();
    }
}
