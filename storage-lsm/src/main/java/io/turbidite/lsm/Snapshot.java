package io.turbidite.lsm;

import io.turbidite.core.scan.ReadView;
import io.turbidite.lsm.partition.ViewState;

/**
 * One moment of a whole store: every view of it, of whatever dataset, shows the same (D3). Old versions
 * that it shows are kept until it is closed.
 *
 * <p><em>Thread-safe.</em>
 */
public final class Snapshot implements AutoCloseable {
    private final ViewState state;
    private final Runnable onClose;

    Snapshot(ViewState state, Runnable onClose) {
        this.state = state;
        this.onClose = onClose;
    }

    /** Everything up to it is shown, nothing after. */
    public long timestamp() {
        return state.timestamp();
    }

    ViewState state() {
        return state;
    }

    /** A dataset at this moment; closing the view leaves the snapshot open. */
    public ReadView view(Dataset dataset) {
        state.checkOpen();
        return new DatasetView(dataset, state.shared(), () -> {});
    }

    @Override
    public void close() {
        if (state.close()) {
            onClose.run();
        }
    }
}
