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
    private final Store store;
    private final ViewState state;
    private final Runnable onClose;

    Snapshot(Store store, ViewState state, Runnable onClose) {
        this.store = store;
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

    /**
     * A dataset at this moment; closing the view leaves the snapshot open.
     *
     * @throws io.turbidite.core.InvalidRequestException if it is another store's, or was dropped
     */
    public ReadView view(Dataset dataset) {
        state.checkOpen();
        store.requireOwn(dataset);
        dataset.opened().admission().checkNotDropped();
        return new DatasetView(dataset, dataset.schema(), state.shared(), () -> {});
    }

    @Override
    public void close() {
        if (state.close()) {
            onClose.run();
        }
    }
}
